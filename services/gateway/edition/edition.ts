import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Unobeyed } from '../unobeyed.ts'
import { editionSettings } from './config.ts'

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

/** An edition that is claimed without its licence key, and a key that the edition needs not. */
export const unobeyedEdition = (env: Environment, build: BuildFacts | undefined): Unobeyed[] => {
  const claimed = claimedEdition(env, build)
  const hasKey = read(editionSettings, env).SVC_LICENSE_KEY !== undefined
  if (claimed === withLicence && !hasKey)
    return [{ name: 'SVC_EDITION', reason: 'Enterprise needs SVC_LICENSE_KEY: the edition stays community.' }]
  if (claimed !== undefined && claimed !== withLicence && hasKey)
    return [{ name: 'SVC_LICENSE_KEY', reason: `The ${claimed} edition needs no licence key.` }]
  return []
}
