const files: Record<string, string> = {
  json: "json.worker.js",
  graphql: "graphql.worker.js",
};

// Monaco asks here for the scripts of its workers: served by us, each bundled into one file.
Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_module: string, label: string) =>
      new Worker(`/assets/explorer/${files[label] ?? "editor.worker.js"}`, { name: label }),
  },
});
