"""Uses an ensemble through kazoo, a client that nobody here wrote. Argument: the connect string."""

import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError, RolledBackError
from kazoo.recipe.counter import Counter
from kazoo.recipe.lock import Lock
from kazoo.recipe.queue import LockingQueue

PATIENCE_SECONDS = 60


def connected(hosts):
    client = KazooClient(hosts=hosts, timeout=10.0)
    client.start(timeout=PATIENCE_SECONDS)
    return client


def nodes(client):
    client.ensure_path("/kazoo/nodes")
    client.create("/kazoo/nodes/a", b"one")
    data, stat = client.get("/kazoo/nodes/a")
    assert data == b"one" and stat.version == 0
    client.set("/kazoo/nodes/a", b"two", version=0)
    for refused, expected in (
        (lambda: client.set("/kazoo/nodes/a", b"three", version=0), BadVersionError),
        (lambda: client.create("/kazoo/nodes/a"), NodeExistsError),
    ):
        try:
            refused()
        except expected:
            continue
        raise AssertionError("expected %s" % expected.__name__)
    for i in range(200):
        client.create("/kazoo/nodes/s-", sequence=True)
    assert len(client.get_children("/kazoo/nodes")) == 201


def transactions(client):
    client.ensure_path("/kazoo/transaction")
    good = client.transaction()
    good.create("/kazoo/transaction/x", b"x")
    good.set_data("/kazoo/transaction", b"y")
    assert good.commit()[0] == "/kazoo/transaction/x"
    bad = client.transaction()
    bad.delete("/kazoo/transaction/x")
    bad.check("/kazoo/transaction", version=99)
    results = bad.commit()
    assert isinstance(results[0], RolledBackError), results
    assert client.exists("/kazoo/transaction/x")


def watches(client, other):
    client.ensure_path("/kazoo/watched")
    seen = threading.Event()

    @client.ChildrenWatch("/kazoo/watched")
    def changed(children):
        if "child" in children:
            seen.set()

    other.create("/kazoo/watched/child")
    assert seen.wait(PATIENCE_SECONDS)


def ephemerals(client, hosts):
    other = connected(hosts)
    other.create("/kazoo/ephemeral", ephemeral=True)
    client.sync("/kazoo")
    gone = threading.Event()
    assert client.exists("/kazoo/ephemeral", watch=lambda event: gone.set())
    other.stop()
    other.close()
    assert gone.wait(PATIENCE_SECONDS)


def locks(client, other):
    order = []
    first = Lock(client, "/kazoo/lock", "first")
    first.acquire(timeout=PATIENCE_SECONDS)

    def contend():
        with Lock(other, "/kazoo/lock", "second"):
            order.append("second")

    thread = threading.Thread(target=contend)
    thread.start()
    while len(first.contenders()) < 2:
        pass
    order.append("first")
    first.release()
    thread.join(PATIENCE_SECONDS)
    assert order == ["first", "second"], order


def recipes(client, other):
    counters = [Counter(each, "/kazoo/counter") for each in (client, other)]
    for i in range(20):
        counters[i % 2] += 1
    # The last increment went through the other client's server; this one's may be behind.
    client.sync("/kazoo/counter")
    value = counters[0].value
    assert value == 20, value
    queue = LockingQueue(client, "/kazoo/queue")
    queue.put_all([b"1", b"2", b"3"])
    taken = []
    reader = LockingQueue(other, "/kazoo/queue")
    for _ in range(3):
        taken.append(reader.get(timeout=PATIENCE_SECONDS))
        reader.consume()
    assert taken == [b"1", b"2", b"3"], taken


def main():
    hosts = sys.argv[1]
    client = connected(hosts)
    other = connected(hosts)
    nodes(client)
    transactions(client)
    watches(client, other)
    ephemerals(client, hosts)
    locks(client, other)
    recipes(client, other)
    for each in (client, other):
        each.stop()
        each.close()
    print("kazoo: all is well")


if __name__ == "__main__":
    main()
