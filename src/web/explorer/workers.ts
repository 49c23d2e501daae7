const files: Record<string, string> = {
  json: "json.worker.js",
  graphql: "graphql.worker.js",
};

// Monaco gets the scripts of its workers from here; each is one bundled file from our server.
Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_module: string, label: string) =>
      new Worker(new URL(files[label] ?? "editor.worker.js", import.meta.url), { name: label }),
  },
});
