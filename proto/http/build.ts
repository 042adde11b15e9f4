import { z } from 'zod'

/**
 * `web/build/build.json`, written by the web build: the gateway's only source of build-time values.
 * `client` holds every `CLIENT_*` variable with the value the bundle was built with, null where it has none.
 */
export const BuildFacts = z.object({
  /** Version of the package the web was built from. */
  version: z.string(),
  gitSha: z.string().nullable(),
  gitRef: z.string().nullable(),
  /** ISO 8601 instant of the build; null when neither the environment nor git states one. */
  builtAt: z.string().nullable(),
  client: z.record(z.string().regex(/^CLIENT_[A-Z0-9_]+$/), z.string().nullable()),
})
export type BuildFacts = z.infer<typeof BuildFacts>
