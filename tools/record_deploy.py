"""Checks deploy/ against the schemas that Kubernetes and KServe publish, and records that it did.

    python tools/record_deploy.py KUBERNETES KSERVE

KUBERNETES: a folder of JSON schemas (`deployment-apps-v1.json`, …) as made from Kubernetes' OpenAPI
description, strict and standalone. KSERVE: a checkout of KServe. Needs PyYAML and jsonschema, and
systemd-analyze. tests/python/test_deploy.py fails on a file that was not checked since it changed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "deploy" / "checked.json"
SCHEMAS = {
    ("apps/v1", "Deployment"): "deployment-apps-v1.json",
    ("v1", "Service"): "service-v1.json",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "horizontalpodautoscaler-autoscaling-v2.json",
}
RUNTIME = "config/crd/full/serving.kserve.io_servingruntimes.yaml"


def strict(schema):
    """The schema, which refuses properties that it does not name."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    out = {name: strict(one) for name, one in schema.items() if name != "format"}
    if "properties" in out and "additionalProperties" not in out:
        out["additionalProperties"] = False
    return out


def schema_of(manifest, kubernetes, kserve):
    kind = manifest["apiVersion"], manifest["kind"]
    if kind in SCHEMAS:
        return json.loads((kubernetes / SCHEMAS[kind]).read_text())
    crd = yaml.safe_load((kserve / RUNTIME).read_text())
    version = kind[0].rpartition("/")[2]
    (found,) = [v for v in crd["spec"]["versions"] if v["name"] == version]
    return strict(found["schema"]["openAPIV3Schema"])


def check_unit(path):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        # The program need not be installed here.
        copy.write_text(path.read_text().replace("/usr/bin/tidemark-serve", "/bin/true"))
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True
        )
        said = [line for line in done.stderr.splitlines() if path.name in line]
        if done.returncode or said:
            sys.exit(f"{path.name}: {done.stderr}")


def main(kubernetes, kserve):
    checked = {}
    for path in sorted((ROOT / "deploy").iterdir()):
        if path.suffix == ".yaml":
            for manifest in yaml.safe_load_all(path.read_text()):
                schema = schema_of(manifest, Path(kubernetes), Path(kserve))
                jsonschema.Draft202012Validator(schema).validate(manifest)
                print(f"{path.name}: {manifest['kind']} is as its schema says")
        else:
            check_unit(path)
            print(f"{path.name}: systemd-analyze has nothing to say")
        checked[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    RECORD.write_text(json.dumps(checked, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
