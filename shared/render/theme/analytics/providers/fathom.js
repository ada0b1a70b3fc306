load("https://cdn.usefathom.com/script.js", { "data-site": s.siteId });
