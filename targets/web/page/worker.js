// Service worker: keeps the files of the page, which opens without a network from then on.

const VERSION = "@VERSION@";
const FILES = [@FILES@];

self.addEventListener("install", (event) => {
  const fill = async () => {
    const cache = await caches.open(VERSION);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" })));
    await self.skipWaiting();
  };
  event.waitUntil(fill());
});

self.addEventListener("activate", (event) => {
  const takeOver = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== VERSION).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(takeOver());
});

self.addEventListener("fetch", (event) => {
  const answer = async () => (await (await caches.open(VERSION)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  event.respondWith(answer());
});
