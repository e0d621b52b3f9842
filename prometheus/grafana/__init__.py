"""Dashboards of Grafana, from code: python3 -m prometheus.grafana.build writes prometheus/dashboards."""
