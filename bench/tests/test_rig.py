import unittest
from unittest import mock

from confluent_kafka import KafkaError, KafkaException

from bench import rig
from stack.waiting import NotInTime


class FreshRedis(unittest.TestCase):
    """A scene that begins anew, on services that are made up."""

    def setUp(self):
        self.rig = rig.Rig.__new__(rig.Rig)
        self.rig.fleet, self.rig.stack = None, mock.MagicMock()

    def test_what_earlier_rows_left_in_the_topics_is_passed_over(self):
        with mock.patch.object(rig, "place_at_end") as placed:
            self.rig.fresh_redis("compact")
        self.assertEqual([call.args[1:] for call in placed.call_args_list],
                         [("fanline-dispatcher", "feed-events"), ("fanline-pusher", "fanout-tasks")])

    def test_members_that_were_killed_are_waited_for(self):
        remembered = KafkaException(KafkaError(KafkaError.UNKNOWN_MEMBER_ID))
        with mock.patch.object(rig, "place_at_end", side_effect=[remembered, None, None]) as placed:
            self.rig.fresh_redis("compact")
        self.assertEqual(placed.call_count, 3)

    def test_another_trouble_ends_it(self):
        away = KafkaException(KafkaError(KafkaError._TRANSPORT))
        with mock.patch.object(rig, "place_at_end", side_effect=away), self.assertRaises(KafkaException):
            self.rig.fresh_redis("compact")

    def test_a_fleet_that_gets_nowhere_ends_and_the_next_scene_is_made_anew(self):
        fleet = self.rig.fleet = mock.MagicMock()
        fleet.wait_idle.side_effect = NotInTime("4876304 records are left")
        self.rig._scene, self.rig.say = "compact", mock.Mock()
        self.rig.settle()
        fleet.close.assert_called_once_with()
        self.assertEqual((self.rig.fleet, self.rig._scene), (None, None))
        self.assertIn("4876304 records", self.rig.say.call_args.args[0])
