window.clarity = window.clarity || function () { (window.clarity.q = window.clarity.q || []).push(arguments); };
load("https://www.clarity.ms/tag/" + encodeURIComponent(s.projectId));
