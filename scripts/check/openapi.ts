import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { Check } from './check.ts'

/** The OpenAPI document is clean under Redocly's recommended rules. */
export const openapi: Check = {
  name: 'openapi',
  run: async () => {
    // Loaded lazily, because it loads the server: a fault there must not stop other checks.
    const { openApi } = await import('../generate/openapi.ts')
    const { path, content } = openApi()
    const problems = await lintFromString({
      source: content,
      absoluteRef: path,
      config: await createConfig({ extends: ['recommended'] }),
    })
    return problems.map(
      ({ ruleId, message, location: [place] }) => `${path}${place?.pointer ?? ''}: ${message} (${ruleId})`,
    )
  },
}
