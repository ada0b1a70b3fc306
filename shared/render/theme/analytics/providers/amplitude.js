load("https://cdn.amplitude.com/script/" + encodeURIComponent(s.apiKey) + ".js", {}, function () {
  window.amplitude.init(s.apiKey, { autocapture: true });
});
