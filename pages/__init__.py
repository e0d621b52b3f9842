"""The site of docs/: gather.py brings its pages together, configuration.py and schemas.py write what is made of
something else, setup installs what builds it."""
