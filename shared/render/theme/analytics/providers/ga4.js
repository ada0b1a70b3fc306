window.dataLayer = window.dataLayer || [];
window.gtag = window.gtag || function () { window.dataLayer.push(arguments); };
window.gtag("js", new Date());
window.gtag("config", s.measurementId);
load("https://www.googletagmanager.com/gtag/js?id=" + encodeURIComponent(s.measurementId));
