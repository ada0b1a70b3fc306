// The library looks for calls that were made before it came.
var mixpanel = window.mixpanel = [];
mixpanel._i = [[s.projectToken, { track_pageview: true }, "mixpanel"]];
mixpanel.__SV = 1.2;
load("https://cdn.mxpnl.com/libs/mixpanel-2-latest.min.js");
