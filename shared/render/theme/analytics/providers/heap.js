var heap = window.heap = window.heap || [];
heap.appid = s.appId;
heap.config = {};
load("https://cdn.heapanalytics.com/js/heap-" + encodeURIComponent(s.appId) + ".js");
