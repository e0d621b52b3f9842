#include "backends/kafka/tools/group_owners.h"

#include "backends/kafka/client.h"

namespace fanline::kafka {
namespace {

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

Status Read(const Client& client, const rd_kafka_event_t* event, const std::string& topic,
            const std::string& what, GroupOwners* owners) {
  size_t count = 0;
  const rd_kafka_ConsumerGroupDescription_t** found = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(const_cast<rd_kafka_event_t*>(event)), &count);
  if (count != 1) return client.StatusOf(RD_KAFKA_RESP_ERR__BAD_MSG, what);
  const rd_kafka_ConsumerGroupDescription_t* group = found[0];
  const auto error = rd_kafka_error_code(rd_kafka_ConsumerGroupDescription_error(group));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return client.StatusOf(error, what);
  if (!IsSettled(rd_kafka_ConsumerGroupDescription_state(group))) {
    return Status::Later("kafka", what + ": they are being shared out anew just now");
  }
  const size_t members = rd_kafka_ConsumerGroupDescription_member_count(group);
  for (size_t i = 0; i < members; ++i) {
    Take(rd_kafka_ConsumerGroupDescription_member(group, i), topic, owners);
  }
  return Status::Done();
}

}  // namespace

Status ReadGroupOwners(const ClientOptions& options, const std::string& group,
                       const std::string& topic, Duration timeout, GroupOwners* owners) {
  const std::string what = "asking the group " + group + " who has which partition";
  Client client(RD_KAFKA_CONSUMER, ClientConfig(options, {}, {}), LogSink(), nullptr);
  const AdminOptionsHandle limits(
      rd_kafka_AdminOptions_new(client.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS));
  char why[512] = "";
  rd_kafka_AdminOptions_set_request_timeout(limits.get(), ToMs(timeout), why, sizeof why);
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  const char* groups[] = {group.c_str()};
  rd_kafka_DescribeConsumerGroups(client.get(), groups, 1, limits.get(), queue.get());

  const EventHandle event(rd_kafka_queue_poll(queue.get(), ToMs(timeout) + 500));
  rd_kafka_poll(client.get(), 0);  // serves a broker's refusal
  if (!event) return client.StatusOf(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
  const auto error = rd_kafka_event_error(event.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return client.StatusOf(error, what);
  return Read(client, event.get(), topic, what, owners);
}

}  // namespace fanline::kafka
