#include "backends/kafka/tools/group_lag.h"

#include "backends/kafka/client.h"
#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

// The first failure of a call or of a partition in it.
Status Judge(rd_kafka_resp_err_t error, const PartitionList& list, const std::string& what) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusOf(error, what);
  for (int i = 0; i < list->cnt; ++i) {
    if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusOf(list->elems[i].err, what);
  }
  return Status::Done();
}

}  // namespace

Status ReadGroupLag(const ClientOptions& options, const std::string& group,
                    const std::string& topic, int32_t partitions, Duration timeout,
                    std::vector<PartitionLag>* lags) {
  const Client client(
      RD_KAFKA_CONSUMER,
      ClientConfig(options, {}, {{"group.id", group}, {"enable.auto.commit", "false"}}), LogSink(),
      nullptr);
  const int limit = ToMs(timeout);
  const PartitionList committed = ListOfAll(topic, partitions, RD_KAFKA_OFFSET_INVALID);
  Status status = Judge(rd_kafka_committed(client.get(), committed.get(), limit), committed,
                        "looking up where " + group + " stands in " + topic);
  if (!status.done()) return status;
  // The ends last, so that a log that grows meanwhile does not look too short.
  const PartitionList lows = ListOfAll(topic, partitions, RD_KAFKA_OFFSET_BEGINNING);
  const PartitionList ends = ListOfAll(topic, partitions, RD_KAFKA_OFFSET_END);
  for (const PartitionList* list : {&lows, &ends}) {
    status = Judge(rd_kafka_offsets_for_times(client.get(), list->get(), limit), *list,
                   "looking up what stands in " + topic);
    if (!status.done()) return status;
  }
  lags->clear();
  for (int32_t partition = 0; partition < partitions; ++partition) {
    const int64_t at = committed->elems[partition].offset;
    lags->push_back({partition, at < 0 ? std::nullopt : std::optional(at),
                     lows->elems[partition].offset, ends->elems[partition].offset});
  }
  return Status::Done();
}

}  // namespace fanline::kafka
