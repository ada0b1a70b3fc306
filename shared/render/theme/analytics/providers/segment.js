// The library looks for calls that were made before it came.
var segment = window.analytics = window.analytics || [];
segment._writeKey = s.key;
segment.push(["page"]);
load("https://cdn.segment.com/analytics.js/v1/" + encodeURIComponent(s.key) + "/analytics.min.js");
