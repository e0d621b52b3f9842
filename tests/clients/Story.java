import com.fasterxml.jackson.databind.ObjectMapper;
import fanline.client.ApiClient;
import fanline.client.ApiException;
import fanline.client.api.FollowingApi;
import fanline.client.api.PublishingApi;
import fanline.client.api.TimelinesApi;
import fanline.client.model.HomePage;
import fanline.client.model.IdOrInteger;
import fanline.client.model.PostsInner;
import fanline.client.model.PostsPage;
import fanline.client.model.Problem;
import fanline.client.model.PublishRequest;
import fanline.client.model.PublishRequestRepostOf;
import fanline.client.model.Repost;
import fanline.client.model.Reposters;
import fanline.client.model.RepostersItemsInner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The same story as story.py, by the client that OpenAPI Generator made. */
public class Story {
  static final int POSTS = 25, PAGE = 7, LIMIT_MS = 30_000;
  static final int REPOST = 101; // Ann's, newer than all posts

  final ObjectMapper json = new ObjectMapper();
  final FollowingApi following;
  final PublishingApi publishing;
  final TimelinesApi timelines;
  final String reader, ann, eve;
  final long first;

  Story(String[] args) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    following = new FollowingApi(client);
    publishing = new PublishingApi(client);
    timelines = new TimelinesApi(client);
    reader = args[1];
    ann = args[2];
    eve = args[3];
    first = Long.parseLong(args[4]);
  }

  interface Read<T> {
    T read() throws Exception;
  }

  /** What it reads at last, good or not. */
  static <T> T until(Read<T> read, Predicate<T> good) throws Exception {
    long end = System.currentTimeMillis() + LIMIT_MS;
    while (true) {
      T value = read.read();
      if (good.test(value) || System.currentTimeMillis() > end) return value;
      Thread.sleep(100);
    }
  }

  long publish(long number) throws ApiException {
    return publish(number, null);
  }

  long publish(long number, PublishRequestRepostOf repostOf) throws ApiException {
    String author = number % 2 == 1 ? ann : eve;
    PublishRequest post =
        new PublishRequest()
            .postId(new IdOrInteger(Long.toString(first + number)))
            .authorId(new IdOrInteger(author))
            .createdAtMs(1_700_000_000_000L + number)
            .repostOf(repostOf);
    return publishing.publishPost(post).getCreatedAtMs();
  }

  void add(List<PostsInner> posts, List<Long> ids) {
    for (PostsInner post : posts) ids.add(Long.parseLong(post.getId()) - first);
  }

  List<Long> home() throws ApiException {
    List<Long> ids = new ArrayList<>();
    String cursor = null;
    do {
      HomePage page = timelines.getTimeline(reader, PAGE, cursor, null, null, null);
      add(page.getItems(), ids);
      cursor = page.getNextCursor();
    } while (cursor != null);
    return ids;
  }

  List<Long> outbox() throws ApiException {
    List<Long> ids = new ArrayList<>();
    String cursor = null;
    do {
      PostsPage page = timelines.getPosts(ann, PAGE, cursor, null, null);
      add(page.getItems(), ids);
      cursor = page.getNextCursor();
    } while (cursor != null);
    return ids;
  }

  PostsInner newest(String reposts) throws ApiException {
    return timelines.getTimeline(reader, 50, null, null, null, reposts).getItems().get(0);
  }

  /** Ann reposts the oldest post, which is Eve's, and undoes it. */
  List<Object> repost() throws Exception {
    String oldest = Long.toString(first);
    publish(REPOST, new PublishRequestRepostOf().postId(new IdOrInteger(oldest)).authorId(new IdOrInteger(eve)));
    PostsInner merged = until(() -> newest(null), item -> item.getId().equals(oldest));
    PostsInner each = newest("each");
    Reposters who = timelines.listReposts(oldest, eve, null, null);
    List<String> undone = publishing.undoReposts(ann, oldest).getUndone();
    until(() -> newest(null), item -> !item.getId().equals(oldest));
    return List.of(Long.parseLong(merged.getId()) - first, merged.getPosted(),
        merged.getReposts().stream().map(Repost::getBy).toList(), each.getKind(),
        Long.parseLong(each.getRepostOf().getId()) - first, who.getCount(),
        who.getItems().stream().map(RepostersItemsInner::getId).toList(),
        undone.stream().map(post -> Long.parseLong(post) - first).toList());
  }

  List<Object> refused(Read<?> read) throws Exception {
    try {
      read.read();
      return List.of();
    } catch (ApiException refused) {
      Problem problem = json.readValue(refused.getResponseBody(), Problem.class);
      return List.of(refused.getCode(), problem.getCode());
    }
  }

  Map<String, Object> tell() throws Exception {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("followed", List.of(following.follow(reader, ann).getChanged(), following.follow(reader, eve).getChanged()));
    long createdAt = 0;
    for (int number = 0; number < POSTS; ++number) createdAt = publish(number);
    told.put("created_at_ms", createdAt);
    told.put("home", until(this::home, ids -> ids.size() == POSTS));
    HomePage page = timelines.getTimeline(reader, PAGE, null, null, null, null);
    PostsInner item = page.getItems().get(0);
    told.put("item", List.of(item.getCreatedAtMs(), item.getAuthorId(), item.getKind()));
    for (int number = POSTS; number < POSTS + 3; ++number) publish(number);
    told.put("new", until(() -> timelines.countTimeline(reader, page.getNewestCursor(), null).getCount(), count -> count == 3));
    told.put("outbox", outbox());
    told.put("reposted", repost());
    told.put("deleted", publishing.deletePost(Long.toString(first + 3), ann).getType().getValue());
    told.put("without_the_deleted", until(this::home, ids -> !ids.contains(3L)));
    told.put("unfollowed", following.unfollow(reader, eve).getFollowing());
    told.put("without_eve", until(this::home, ids -> ids.stream().allMatch(number -> number % 2 == 1)));
    told.put("refused", refused(() -> timelines.getTimeline("0", null, null, null, null, null)));
    told.put("oneself", refused(() -> following.follow(reader, reader)));
    return told;
  }

  public static void main(String[] args) throws Exception {
    Story story = new Story(args);
    System.out.println(story.json.writeValueAsString(story.tell()));
  }
}
