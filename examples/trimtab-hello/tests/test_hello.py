from trimtab.testing import PluginContract


class TestHello(PluginContract):
    plugin = "hello"
    samples = {"ticket_search": [{"tickets": [{"id": "T-1", "title": "Door", "body": "It is stuck."}], "total": 1}]}
