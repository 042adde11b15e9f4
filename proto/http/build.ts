import { z } from 'zod'

/**
 * `web/build/build.json`, written by the web build: the gateway's only source of build-time values.
 * `client` contains every `CLIENT_*` variable with its value at build time, null if unset.
 */
export const BuildInfo = z.object({
  /** Version of the package from which the web UI was built. */
  version: z.string(),
  gitSha: z.string().nullable(),
  gitRef: z.string().nullable(),
  /** ISO 8601 time of the build; null if neither the environment nor git provides it. */
  builtAt: z.string().nullable(),
  client: z.record(z.string().regex(/^CLIENT_[A-Z0-9_]+$/), z.string().nullable()),
})
export type BuildInfo = z.infer<typeof BuildInfo>
