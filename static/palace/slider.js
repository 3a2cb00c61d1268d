/* The time bar's small comforts: the date while sliding, and single keys. Everything works without. */
"use strict";
(() => {
  const words = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

  document.addEventListener("input", (event) => {
    const range = event.target;
    if (range.id !== "t") return;
    const when = document.getElementById("when");
    const moment = new Date(Number(range.value) * 1000);
    const isNow = Number(range.value) >= Number(range.max);
    const text = isNow ? "Now" : words.format(moment);
    range.setAttribute("aria-valuetext", text);
    if (!when) return;
    when.querySelector("strong").textContent = text;
    when.querySelector("small").textContent = isNow ? "UTC" : `${clock.format(moment)} UTC`;
  });

  // Paths of the keys: the very links of the bar, so both go the same way.
  const ways = { "[": "previous-change", "]": "next-change", n: "to-now" };
  const everywhere = () => localStorage.getItem("keys-everywhere") === "1";

  document.addEventListener("keydown", (event) => {
    const link = document.getElementById(ways[event.key]);
    if (!link || !link.href || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]");
    const inBar = event.target.closest("#time");
    if (typing || !(inBar || everywhere())) return;
    event.preventDefault();
    link.click();
  });

  const box = () => document.getElementById("keys-everywhere");
  document.addEventListener("change", (event) => {
    if (event.target === box()) localStorage.setItem("keys-everywhere", event.target.checked ? "1" : "0");
  });
  document.addEventListener("toggle", () => { if (box()) box().checked = everywhere(); }, true);
})();
