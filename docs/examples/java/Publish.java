import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Tells Fanline about posts, one method per event, in JSON. Needs kafka-clients. Run as a program,
 * it takes one post through its life: published, reposted, hidden, shown again, edited; the repost
 * undone; deleted.
 */
public class Publish {
  static final String TOPIC = "feed-events";

  static Event published(long postId, long authorId, Instant createdAt) {
    String more = "\"created_at_ms\":" + createdAt.toEpochMilli();
    return new Event("post.published", postId, authorId, more);
  }

  /** A post of its own, by who reposts. To undo it, delete it. */
  static Event reposted(long postId, long authorId, Instant createdAt, Event original) {
    String more = "\"created_at_ms\":" + createdAt.toEpochMilli()
        + ",\"repost_of\":{" + original.ids() + '}';
    return new Event("post.published", postId, authorId, more);
  }

  static Event hidden(long postId, long authorId, long version) {
    return new Event("post.hidden", postId, authorId, version(version));
  }

  static Event unhidden(long postId, long authorId, long version) {
    return new Event("post.unhidden", postId, authorId, version(version));
  }

  static Event edited(long postId, long authorId, long version) {
    return new Event("post.edited", postId, authorId, version(version));
  }

  static Event deleted(long postId, long authorId) {
    return new Event("post.deleted", postId, authorId, null);
  }

  static String version(long version) {
    return "\"version\":\"" + Long.toUnsignedString(version) + '"';
  }

  /** `more` is the field this type has beyond the ids, as JSON, or null. */
  record Event(String type, long postId, long authorId, String more) {
    // Ids travel as strings: a JSON number of 2^53 or above may be rounded by whoever reads it.
    String json() {
      return "{\"schema_version\":1,\"type\":\"" + type + "\"," + ids()
          + (more == null ? "" : "," + more) + '}';
    }

    String ids() {
      return "\"post_id\":\"" + Long.toUnsignedString(postId)
          + "\",\"author_id\":\"" + Long.toUnsignedString(authorId) + '"';
    }
  }

  static KafkaProducer<String, String> connect(String brokers) {
    Properties config = new Properties();
    config.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
    // Implies acks=all: an acknowledged event is on every in-sync replica.
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    // After that the event is reported as failed: send it again, twice does no harm.
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 10_000);
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000);
    return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
  }

  /** The broker's acknowledgement, when it comes; its get() throws what went wrong. */
  static Future<RecordMetadata> send(KafkaProducer<String, String> producer, Event event) {
    var record = new ProducerRecord<>(TOPIC, Long.toUnsignedString(event.postId()), event.json());
    record.headers().add("content-type", "application/json".getBytes(UTF_8));
    return producer.send(record);
  }

  static void sendAll(KafkaProducer<String, String> producer, List<Event> events)
      throws ExecutionException, InterruptedException {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (Event event : events) {
      sent.add(send(producer, event));
      if (sent.size() == 1) sent.get(0).get();  // no broker: fail now, not once per event
    }
    for (int i = 0; i < sent.size(); ++i) {
      RecordMetadata at = sent.get(i).get();
      Event event = events.get(i);
      System.out.printf("%s %s is at %s/%d/%d%n", event.type(),
          Long.toUnsignedString(event.postId()), at.topic(), at.partition(), at.offset());
    }
  }

  public static void main(String[] args) throws InterruptedException {
    String brokers = System.getenv().getOrDefault("FANLINE_KAFKA_BROKERS", "127.0.0.1:9092");
    long post = System.currentTimeMillis() * 1_000_000, author = 5;
    long repost = post + 1, reposter = 9;
    Event original = published(post, author, Instant.now());
    List<Event> life = List.of(
        original,
        reposted(repost, reposter, Instant.now(), original),
        hidden(post, author, 1),
        unhidden(post, author, 2),
        edited(post, author, 1),
        deleted(repost, reposter),
        deleted(post, author));
    try (KafkaProducer<String, String> producer = connect(brokers)) {
      sendAll(producer, life);
    } catch (ExecutionException error) {
      System.err.println("not acknowledged by " + brokers + ": " + error.getCause().getMessage());
      System.exit(1);
    }
  }
}
