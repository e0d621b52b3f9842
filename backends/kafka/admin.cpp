#include "backends/kafka/admin.h"

#include <thread>
#include <utility>

#include "backends/kafka/client.h"
#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

// A consumer without a group: its metadata requests create no topics, unlike a producer's.
ClientConfig ConfigOf(const ClientOptions& options) {
  return ClientConfig(options, {}, {{"allow.auto.create.topics", "false"}});
}

// kNever: the specification itself is not valid.
Status Specify(const TopicSpec& topic, NewTopicHandle* made) {
  char why[512] = "";
  made->reset(rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions, topic.replication, why,
                                    sizeof why));
  if (!*made) return Status::Never("topic " + topic.name + ": " + why);
  for (const auto& [name, value] : topic.configs)
    rd_kafka_NewTopic_set_config(made->get(), name.c_str(), value.c_str());
  return Status::Done();
}

// The answer to a request of librdkafka's admin API. The event goes before its queue.
struct Answer {
  QueueHandle queue;
  EventHandle event;  // null: none came in time
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
};

// `submit(options, queue)` begins the request.
template <typename Submit>
Answer Ask(const Client& client, rd_kafka_admin_op_t request, Duration timeout, Submit submit) {
  const AdminOptionsHandle options(rd_kafka_AdminOptions_new(client.get(), request));
  char why[512] = "";
  rd_kafka_AdminOptions_set_request_timeout(options.get(), ToMs(timeout), why, sizeof why);
  if (request == RD_KAFKA_ADMIN_OP_CREATETOPICS) {
    rd_kafka_AdminOptions_set_operation_timeout(options.get(), ToMs(timeout), why, sizeof why);
  }
  Answer answer;
  answer.queue.reset(rd_kafka_queue_new(client.get()));
  submit(options.get(), answer.queue.get());
  answer.event.reset(rd_kafka_queue_poll(answer.queue.get(), ToMs(timeout) + 500));
  if (answer.event) answer.error = rd_kafka_event_error(answer.event.get());
  return answer;
}

rd_kafka_resp_err_t Send(const Client& client, rd_kafka_NewTopic_t* topic, Duration timeout,
                         std::string* why) {
  const Answer answer =
      Ask(client, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout, [&](auto* options, auto* queue) {
        rd_kafka_CreateTopics(client.get(), &topic, 1, options, queue);
      });
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (answer.event) *why = rd_kafka_event_error_string(answer.event.get());
    return answer.error;
  }
  size_t count = 0;
  const rd_kafka_topic_result_t** results = rd_kafka_CreateTopics_result_topics(
      rd_kafka_event_CreateTopics_result(answer.event.get()), &count);
  if (count != 1) return RD_KAFKA_RESP_ERR__BAD_MSG;
  if (const char* text_of_broker = rd_kafka_topic_result_error_string(results[0]))
    *why = text_of_broker;
  return rd_kafka_topic_result_error(results[0]);
}

// Nothing else polls this client, so a broker's refusal is only noticed by this poll.
Status StatusAfter(const Client& client, rd_kafka_resp_err_t result, const std::string& what) {
  rd_kafka_poll(client.get(), 0);
  return client.StatusOf(result, what);
}

// Notes the member as the owner of its partitions of the topic.
void Take(const rd_kafka_MemberDescription_t* member, const std::string& topic,
          GroupOwners* owners) {
  GroupOwner owner{rd_kafka_MemberDescription_client_id(member),
                   rd_kafka_MemberDescription_host(member)};
  if (owner.host.starts_with('/')) owner.host.erase(0, 1);  // Java prints addresses so
  const rd_kafka_topic_partition_list_t* list =
      rd_kafka_MemberAssignment_partitions(rd_kafka_MemberDescription_assignment(member));
  for (int i = 0; list != nullptr && i < list->cnt; ++i) {
    if (list->elems[i].topic == topic) (*owners)[list->elems[i].partition] = owner;
  }
}

// A group that nobody has joined yet, or that all have left, has no members.
bool IsSettled(rd_kafka_consumer_group_state_t state) {
  return state == RD_KAFKA_CONSUMER_GROUP_STATE_STABLE ||
         state == RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY ||
         state == RD_KAFKA_CONSUMER_GROUP_STATE_DEAD;
}

}  // namespace

Admin::Admin(ClientOptions options, Duration timeout, LogSink log)
    : timeout_(timeout),
      client_(std::make_unique<Client>(RD_KAFKA_CONSUMER, ConfigOf(options), std::move(log),
                                       nullptr)) {}
Admin::~Admin() = default;

Status Admin::CreateTopic(const TopicSpec& topic) {
  NewTopicHandle made;
  if (Status status = Specify(topic, &made); !status.done()) return status;
  std::string why;
  const rd_kafka_resp_err_t error = Send(*client_, made.get(), timeout_, &why);
  const std::string what = "creating topic " + topic.name + (why.empty() ? "" : " (" + why + ")");
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    return StatusAfter(*client_, error, what);

  int32_t found = 0;
  if (Status status = AwaitTopic(topic.name, &found); !status.done()) return status;
  if (found == topic.partitions) return Status::Done();
  return Status::Never("topic " + topic.name + " exists with " + std::to_string(found) +
                       " partitions, " + std::to_string(topic.partitions) + " are wanted");
}

// The controller has created the topic. Brokers learn of it a moment later, then of its leaders.
Status Admin::AwaitTopic(const std::string& topic, int32_t* partitions) {
  const auto until = Clock::now() + timeout_;
  for (;;) {
    const Status status = CountPartitions(topic, partitions);
    if (status.never() || (status.done() && *partitions > 0)) return status;
    if (Clock::now() >= until)
      return status.later() ? status
                            : StatusAfter(*client_, RD_KAFKA_RESP_ERR__TIMED_OUT,
                                          "waiting for topic " + topic);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status Admin::CountPartitions(const std::string& topic, int32_t* partitions) {
  const TopicHandle handle(rd_kafka_topic_new(client_->get(), topic.c_str(), nullptr));
  if (!handle) return StatusAfter(*client_, rd_kafka_last_error(), "topic " + topic);
  const rd_kafka_metadata_t* raw = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client_->get(), 0, handle.get(), &raw, ToMs(timeout_));
  const MetadataHandle metadata(raw);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    return StatusAfter(*client_, error, "looking up topic " + topic);
  if (metadata->topic_cnt != 1)
    return StatusAfter(*client_, RD_KAFKA_RESP_ERR__BAD_MSG, "looking up topic " + topic);

  const rd_kafka_metadata_topic_t& found = metadata->topics[0];
  *partitions = found.partition_cnt;
  if (found.err == RD_KAFKA_RESP_ERR_NO_ERROR) return StatusAfter(*client_, found.err, topic);
  *partitions = 0;
  if (found.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return Status::Done();
  return StatusAfter(*client_, found.err, "looking up topic " + topic);
}

Status Admin::ReadConfig(const std::string& topic, const std::string& name, std::string* value) {
  const std::string what = "reading the settings of topic " + topic;
  const ConfigResourceHandle asked(
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  rd_kafka_ConfigResource_t* resource = asked.get();
  const Answer answer =
      Ask(*client_, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout_, [&](auto* options, auto* queue) {
        rd_kafka_DescribeConfigs(client_->get(), &resource, 1, options, queue);
      });
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusAfter(*client_, answer.error, what);
  size_t count = 0;
  const rd_kafka_ConfigResource_t** found = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(answer.event.get()), &count);
  if (count != 1) return StatusAfter(*client_, RD_KAFKA_RESP_ERR__BAD_MSG, what);
  if (const auto error = rd_kafka_ConfigResource_error(found[0]);
      error != RD_KAFKA_RESP_ERR_NO_ERROR)
    return StatusAfter(*client_, error, what);
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(found[0], &count);
  for (size_t i = 0; i < count; ++i) {
    if (name != rd_kafka_ConfigEntry_name(entries[i])) continue;
    const char* text = rd_kafka_ConfigEntry_value(entries[i]);
    *value = text == nullptr ? "" : text;
    return Status::Done();
  }
  return Status::Never("topic " + topic + " has no setting " + name);
}

Status Admin::ReadOwners(const std::string& group, const std::string& topic, GroupOwners* owners) {
  const std::string what = "asking the group " + group + " who has which partition";
  const char* groups[] = {group.c_str()};
  const Answer answer =
      Ask(*client_, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout_,
          [&](auto* options, auto* queue) {
            rd_kafka_DescribeConsumerGroups(client_->get(), groups, 1, options, queue);
          });
  if (answer.error != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusAfter(*client_, answer.error, what);
  size_t count = 0;
  const rd_kafka_ConsumerGroupDescription_t** found = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(answer.event.get()), &count);
  if (count != 1) return StatusAfter(*client_, RD_KAFKA_RESP_ERR__BAD_MSG, what);
  const auto error = rd_kafka_error_code(rd_kafka_ConsumerGroupDescription_error(found[0]));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusAfter(*client_, error, what);
  if (!IsSettled(rd_kafka_ConsumerGroupDescription_state(found[0]))) {
    return Status::Later("kafka", what + ": they are being shared out anew just now");
  }
  const size_t members = rd_kafka_ConsumerGroupDescription_member_count(found[0]);
  for (size_t i = 0; i < members; ++i) {
    Take(rd_kafka_ConsumerGroupDescription_member(found[0], i), topic, owners);
  }
  return Status::Done();
}

}  // namespace fanline::kafka
