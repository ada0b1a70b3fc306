window.dataLayer = window.dataLayer || [];
window.dataLayer.push({ "gtm.start": Date.now(), event: "gtm.js" });
load("https://www.googletagmanager.com/gtm.js?id=" + encodeURIComponent(s.tagId));
