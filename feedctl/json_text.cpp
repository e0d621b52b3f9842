#include "feedctl/json_text.h"

namespace fanline::feedctl {

std::string WithMember(std::string object, std::string_view name, std::string_view json) {
  object.pop_back();
  if (object.back() != '{') object += ',';
  object += '"';
  object += name;
  object += "\":";
  object += json;
  return object + "}";
}

std::string JsonList(std::span<const std::string> values) {
  std::string list = "[";
  for (const std::string& value : values) {
    if (list.size() > 1) list += ',';
    list += value;
  }
  return list + "]";
}

}  // namespace fanline::feedctl
