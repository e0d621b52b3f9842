"""Every statement the programs send costs what it returns, not what its tables hold.

shapes: stack/statement_shapes.py reduces what integration and end-to-end tests sent.
seen_test: each shape seen has an entry in catalogue.py.
cost_test: each entry runs on 100,000 rows of every table, with ids of every length.
"""
