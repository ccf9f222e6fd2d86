// Draws the diagrams of a page when it is opened, in its colours.
const chosen = document.body.dataset.theme;
const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
mermaid.initialize({ startOnLoad: true, securityLevel: "strict", theme: dark ? "dark" : "default" });
