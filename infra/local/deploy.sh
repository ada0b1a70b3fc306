#!/usr/bin/env bash
# Deploys Bindery to a local cloud: MiniStack on this machine, which it starts,
# or another one that runs already. Everything that it makes is in one folder;
# stop.sh ends it again. What a caller needs is in the file env of that folder.
# Run again, it deploys what has changed over what is there.
#
#   LOCAL_DIR         the folder; default .cache/local
#   LOCAL_PORT        the port; default 4566
#   LOCAL_AUTH        true: permissions are enforced, over TLS; default false
#   LOCAL_CALLS       the address that functions call; default MiniStack itself.
#                     A test puts a proxy there.
#   LOCAL_FUNCTIONS   a folder of linked functions; default: they are linked here
#   LOCAL_PARAMETERS  parameters of the stack, as "RenderConcurrency=8"
#   LOCAL_ENDPOINT    a cloud that runs already, as LocalStack at
#                     http://127.0.0.1:4566: MiniStack is not started
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${LOCAL_DIR:-$PWD/.cache/local}
port=${LOCAL_PORT:-4566}
auth=${LOCAL_AUTH:-false}
python=$PWD/.cache/ministack/bin/python
cdk=$PWD/.cache/npm/node_modules/.bin/cdk
if [ ! -x "$python" ] || [ ! -x "$cdk" ]; then
  .ci/tools ministack npm
fi
for tool in "$python" "$cdk"; do
  [ -x "$tool" ] || { echo "deploy-local: $tool is not there; see make tools" >&2; exit 1; }
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

# The functions, for this machine's processor: MiniStack runs them as they are.
case $(uname -m) in
  aarch64 | arm64) goarch=arm64 arch=arm64 ;;
  *) goarch=amd64 arch=x86_64 ;;
esac
functions=${LOCAL_FUNCTIONS:-$dir/functions}
[ -n "${LOCAL_FUNCTIONS:-}" ] || make --no-print-directory -s functions ARCH=$goarch FUNCTIONS="$functions"

scheme=http
tls=()
if [ "$auth" = true ]; then
  # Buckets refuse what does not come over TLS, so permissions need it.
  scheme=https
  [ -f "$dir/cert.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/key.pem" -out "$dir/cert.pem" -days 30 \
    -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:TRUE 2>/dev/null
  export SSL_CERT_FILE=$dir/cert.pem AWS_CA_BUNDLE=$dir/cert.pem NODE_EXTRA_CA_CERTS=$dir/cert.pem
  tls=(USE_SSL=1 MINISTACK_SSL_CERT="$dir/cert.pem" MINISTACK_SSL_KEY="$dir/key.pem" SSL_CERT_FILE="$dir/cert.pem")
fi
endpoint=${LOCAL_ENDPOINT:-$scheme://127.0.0.1:$port}
calls=${LOCAL_CALLS:-$endpoint}
ready() {
  "$python" -c 'import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1] + "/_ministack/health", timeout=2, context=ssl._create_unverified_context())' "$endpoint" 2>/dev/null
}

# One that runs here with the same settings stays, and what it runs goes on.
settings="$endpoint $calls $auth"
if [ -n "${LOCAL_ENDPOINT:-}" ]; then
  infra/local/stop.sh
elif [ -f "$dir/ministack.pid" ] && [ "$(cat "$dir/settings" 2>/dev/null)" = "$settings" ] && ready; then
  :
else
  infra/local/stop.sh
  mkdir -p "$dir/home" "$dir/state" "$dir/objects"
  # A clean environment: MiniStack hands its own to the functions.
  env -i PATH="$PATH" HOME="$dir/home" TMPDIR="$dir/home" \
    GATEWAY_PORT="$port" BIND_HOST=127.0.0.1 AWS_ENDPOINT_URL="$calls" \
    AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 \
    PERSIST_STATE=1 STATE_DIR="$dir/state" S3_PERSIST=1 S3_DATA_DIR="$dir/objects" \
    AUTH="$auth" ${tls[@]+"${tls[@]}"} \
    setsid "$python" infra/local/cloud.py >"$dir/ministack.log" 2>&1 &
  echo $! >"$dir/ministack.pid"
  echo "$settings" >"$dir/settings"
  for try in $(seq 100); do
    ready && break
    if [ "$try" = 100 ] || ! kill -0 "$(cat "$dir/ministack.pid")" 2>/dev/null; then
      echo "deploy-local: MiniStack does not answer at $endpoint" >&2
      tail -n 20 "$dir/ministack.log" >&2
      exit 1
    fi
    sleep 0.1
  done
fi

export AWS_ENDPOINT_URL=$endpoint AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
export AWS_EC2_METADATA_DISABLED=true CDK_DISABLE_CLI_TELEMETRY=1 JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1
unset AWS_PROFILE AWS_SESSION_TOKEN
context=(-c stage=local -c arch=$arch -c functions="$functions" --output "$dir/cdk" --no-notices --no-version-reporting)
quietly() { "$@" >"$dir/cdk.log" 2>&1 || { tail -n 30 "$dir/cdk.log" >&2; exit 1; }; }
quietly "$cdk" bootstrap aws://000000000000/us-east-1 "${context[@]}"
# Where a local cloud has an API; each has its own way, and none that of AWS.
at=restapis/{ApiId}/local/_user_request_
[ -z "${LOCAL_ENDPOINT:-}" ] || at=_aws/execute-api/{ApiId}/local
parameters=(--parameters "LocalUrl=$endpoint/$at")
for parameter in ${LOCAL_PARAMETERS:-}; do
  parameters+=(--parameters "$parameter")
done
quietly "$cdk" deploy "${context[@]}" --require-approval never --outputs-file "$dir/outputs.json" "${parameters[@]}"

output() { "$python" -c 'import json,sys; print(json.load(open(sys.argv[1]))["Bindery-local"][sys.argv[2]])' "$dir/outputs.json" "$1"; }
cat >"$dir/env" <<END
BINDERY_URL=$(output DashboardUrl)
BINDERY_STACK=Bindery-local
AWS_ENDPOINT_URL=$endpoint
AWS_REGION=us-east-1
AWS_ACCESS_KEY_ID=test
AWS_SECRET_ACCESS_KEY=test
END
[ "$auth" != true ] || echo "SSL_CERT_FILE=$dir/cert.pem" >>"$dir/env"
echo "Bindery is deployed. Load what callers and operators need:"
echo "  set -a; . $dir/env; set +a"
cat "$dir/env"
