"""A Ray cluster of three nodes on this machine, each with one processor, for as long as standard input is open.

Prints its address and the process ids of the raylets; the first is the head's.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

# A node that died is known after three seconds, and not after fifteen.
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}

from ray.cluster_utils import Cluster

MEGABYTES = 80
NODES = 3


def main() -> None:
    """Start the nodes, say where they are, and stop them at the end of the input."""
    # Paths of sockets are short.  What Ray writes beside its nodes goes there too.
    folder = os.environ["RAY_TMPDIR"] = tempfile.mkdtemp(prefix="ray-")
    Path(folder, "ray").mkdir()
    cluster = Cluster()
    try:
        for _ in range(NODES):
            cluster.add_node(
                num_cpus=1, object_store_memory=MEGABYTES * 2**20, include_dashboard=False, temp_dir=folder
            )
        raylets = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
        gcs = cluster.head_node.all_processes["gcs_server"][0].process.pid
        sys.stdout.write(json.dumps({"address": cluster.address, "raylets": raylets, "gcs": gcs}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
