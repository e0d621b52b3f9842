"""Writes down the classes a broker loads, so that later starts map them instead: half the time
and half the processor for each test that starts a stack. Run once by stack/setup."""

from stack.local_stack import LocalStack
from stack.services.kafka import CLASSES


def main():
    fresh = CLASSES.with_suffix(".fresh")
    dump = f"-XX:ArchiveClassesAtExit={fresh}"
    with LocalStack(shards=0, kafka_java_args=[dump], say=lambda line: None) as stack:
        stack.kafka.stop(timeout=120)
    fresh.rename(CLASSES)


if __name__ == "__main__":
    main()
