// The library looks for calls that were made before it came.
var posthog = window.posthog = window.posthog || [], host = s.apiHost.replace(/\/$/, ""), options = { api_host: host };
if (s.sessionRecording === "false") options.disable_session_recording = true;
posthog.people = posthog.people || [];
posthog._i = [[s.apiKey, options, "posthog"]];
posthog.__SV = 1;
load(host.replace(".i.posthog.com", "-assets.i.posthog.com") + "/static/array.js", { crossorigin: "anonymous" });
