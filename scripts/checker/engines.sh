#!/bin/sh
# Compares both engines of `callsieve evaluate` with each other and with a run of the official evaluator: engines.sh [SEED]
#
# Outputs: right and mutated ones of all single-turn categories and of format sensitivity, the ground truths of the multi-turn
# and agentic categories as texts and as calls, and wrong and mutated ones of these. Exit 1 on any difference, or if a ground truth is not correct; 3 if the package cannot be installed here.
set -eu

here=$(dirname "$0")
. "$here/../bfcl_environment.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
BFCL_PROJECT_ROOT=$folder
export BFCL_PROJECT_ROOT
python() { "$venv/bin/python" -W ignore "$@"; }
evaluate() { ${CALLSIEVE:-cargo run --quiet --} evaluate --dataset "$data" "$@"; }

python "$here/outputs.py" "$folder/result/outputs" --seed "${1:-1}"
python "$here/trajectories.py" "$folder/result" --seed "${1:-1}"
data=$(python "$here/record.py" --paths "$folder/unused" | head -n 1)

evaluate --engine official --results "$folder/result" --verdicts "$folder/official.jsonl" --score-dir "$folder/score" > "$folder/shown"
grep -m 1 '^Verdicts by' "$folder/shown"
evaluate --engine builtin --results "$folder/result/outputs" --verdicts "$folder/builtin.jsonl" > "$folder/shown"
status=0
python - "$folder" <<'PYTHON' || status=1
import json, sys
read = lambda name: [json.loads(line) for line in open(f"{sys.argv[1]}/{name}.jsonl")]
fields = lambda verdict: (verdict["valid"], verdict["error_type"])
official = read("official")
builtin = {verdict["id"]: verdict for verdict in read("builtin")}
of_outputs = [verdict for verdict in official if verdict["system"] == "outputs"]
# The evaluator computes what an output has in place of a value, such as large powers, and may never end.
endless = [verdict for verdict in of_outputs if any("no verdict within" in str(error) for error in verdict["error"])]
of_outputs = [verdict for verdict in of_outputs if verdict not in endless]
print(f"the package does not end in time at {len(endless)} outputs, which are left out:", *(verdict["id"] for verdict in endless[:3]))
same = sum(fields(verdict) == fields(builtin[verdict["id"]]) for verdict in of_outputs)
print(f"both engines: {same} of {len(of_outputs)} verdicts and error types are the same; {sum(v['valid'] for v in of_outputs)} are correct")
failed = same != len(of_outputs) or len(builtin) != len(of_outputs) + len(endless)
for model, expected in (("prompted", True), ("calling", True), ("wrong", False)):
    valid = [verdict["valid"] for verdict in official if verdict["system"] == model]
    print(f"{model}: {sum(valid)} of {len(valid)} are correct")
    failed |= not valid or valid != [expected] * len(valid)
sys.exit(failed)
PYTHON
echo "official evaluator and --engine official:"
python "$here/official_run.py" "$folder/result" "$folder/official.jsonl" "$folder/score" --calling calling,wrong || status=1
exit $status
