load("https://" + s.server + "/js/script.js", { "data-domain": s.domain });
