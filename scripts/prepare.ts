/** Run by npm after an installation: builds what the server serves of the console and the documents. */

await import('./build-console.ts')
await import('./build-docs.ts')
