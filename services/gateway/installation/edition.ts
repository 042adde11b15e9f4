import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type Setting, secret, read } from '#shared/config/setting.ts'

const edition: Setting<string | undefined> = {
  doc: 'What the installation calls itself, on the about page and in GET /api/version: community by default, enterprise where there is a licence key, cloud where people are billed. Every edition has every function.',
  audience: 'client',
  fallback: 'none',
  allowed: 'a word of letters, digits and dashes',
  parse: (given) => {
    if (given === undefined) return undefined
    const word = given.trim().toLowerCase()
    if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(word))
      throw new Error('must be a word of at most 32 letters, digits and dashes')
    return word
  },
}

/** What the installation calls itself. */
export const editionSettings = {
  SVC_EDITION: edition,
  SVC_LICENSE_KEY: secret(
    'Licence key. With it the installation may call itself enterprise, and does while SVC_EDITION is unset; it opens no function and is told to nobody.',
  ),
} as const

/** Of an installation that says nothing, or that says more than it has a licence for. */
const withoutLicence = 'community'
const withLicence = 'enterprise'
/** The edition whose people are billed. */
export const cloudEdition = 'cloud'

/** What the installation calls itself: what the run says, else what the web was built with, else what its licence key means. */
export const editionOf = (env: Environment, build: BuildFacts | undefined): string => {
  const { SVC_LICENSE_KEY: key } = read(editionSettings, env)
  const claimed = claimedEdition(env, build) ?? (key === undefined ? withoutLicence : withLicence)
  return claimed === withLicence && key === undefined ? withoutLicence : claimed
}

const claimedEdition = (env: Environment, build: BuildFacts | undefined): string | undefined =>
  read(editionSettings, env).SVC_EDITION ?? (build?.client.CLIENT_EDITION?.trim().toLowerCase() || undefined)

/** A variable that is set and changes nothing here. */
export interface IgnoredSetting {
  name: string
  /** Why, in a sentence that holds no value. */
  reason: string
}

/** An edition that is claimed without its licence key, and a key that the edition needs not. */
export const ignoredEditionSettings = (env: Environment, build: BuildFacts | undefined): IgnoredSetting[] => {
  const claimed = claimedEdition(env, build)
  const hasKey = read(editionSettings, env).SVC_LICENSE_KEY !== undefined
  if (claimed === withLicence && !hasKey)
    return [{ name: 'SVC_EDITION', reason: 'Enterprise needs SVC_LICENSE_KEY: the edition stays community.' }]
  if (claimed !== undefined && claimed !== withLicence && hasKey)
    return [{ name: 'SVC_LICENSE_KEY', reason: `The ${claimed} edition needs no licence key.` }]
  return []
}
