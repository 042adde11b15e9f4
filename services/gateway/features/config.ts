import { type Feature, features } from '#proto/call.ts'
import { type Setting, maybeFlag, optional, flag } from '#shared/config/setting.ts'

/** Who may use a feature that is not switched off. */
export type FeatureAccess = 'public' | 'authenticated'

/** `guest` is another word for public. */
const accessWords: Readonly<Record<string, FeatureAccess>> = {
  public: 'public',
  guest: 'public',
  authenticated: 'authenticated',
}

/** What a word of the environment or the file means; undefined when it means nothing. */
export const parseAccess = (word: string): FeatureAccess | undefined => {
  const lower = word.trim().toLowerCase()
  return Object.hasOwn(accessWords, lower) ? accessWords[lower] : undefined
}

/** The feature that somebody wrote, in whatever case. */
export const parseFeature = (word: string): Feature | undefined =>
  features.find((feature) => feature === word.trim().toUpperCase())

/** Refused rather than skipped: a misspelt name would leave open what was to be closed. */
const featureList = (doc: string): Setting<ReadonlySet<Feature>> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: 'comma-separated feature ids',
  parse: (given) => {
    const words = (given ?? '').split(',').filter((word) => word.trim() !== '')
    return new Set(
      words.map((word) => {
        const feature = parseFeature(word)
        if (feature === undefined) throw new Error(`knows no feature ${word.trim()}; there are ${features.join(', ')}`)
        return feature
      }),
    )
  },
})

const accessOf = (feature: Feature): Setting<FeatureAccess | undefined> => ({
  doc: `Who may use ${feature}: everybody who may read, or only who is known.`,
  audience: 'server',
  fallback: 'public',
  allowed: 'public, guest (the same), authenticated',
  parse: (given) => {
    if (given === undefined) return undefined
    const access = parseAccess(given)
    if (access === undefined) throw new Error('must be public, guest or authenticated')
    return access
  },
})

const enabledOf = (feature: Feature): Setting<boolean | undefined> => ({
  ...maybeFlag(`Whether there is ${feature} at all.`),
  fallback: 'true',
})

type FeatureSettings = Record<`SVC_FEATURE_${Feature}_ACCESS`, Setting<FeatureAccess | undefined>> &
  Record<`SVC_FEATURE_${Feature}_ENABLED`, Setting<boolean | undefined>>

/** What decides which features there are and for whom. */
export const featureSettings = {
  SVC_DISABLED_FEATURES: featureList('Features that are off for everybody.'),
  SVC_AUTH_REQUIRED_FEATURES: featureList('Features that only who is known may use.'),
  SVC_CONFIG_FILE: optional(
    'TOML or YAML file with a features table, read once at start, not on the edge; the environment wins over it.',
  ),
  // Both names of every feature are made here, which is what the type says.
  ...(Object.fromEntries(
    features.flatMap((feature) => [
      [`SVC_FEATURE_${feature}_ACCESS`, accessOf(feature)],
      [`SVC_FEATURE_${feature}_ENABLED`, enabledOf(feature)],
    ]),
  ) as FeatureSettings),
} as const

/** Whether Prometheus may scrape the metrics of all hosts. */
export const expositionSettings = {
  SVC_FEATURE_PROMETHEUS_ENABLED: maybeFlag(
    'Serve GET /api/v1/metrics, the figures of all hosts for Prometheus; unset means yes, in cloud mode no.',
  ),
} as const

/** Whether people may keep connections to databases of their own. */
export const userConnectionSettings = {
  SVC_FEATURE_USER_CONNECTIONS_DB: flag(
    false,
    'Let people keep connections of their own; needs a state database and SVC_USER_CONNECTIONS_ENCRYPTION_KEY.',
    { audience: 'client' },
  ),
} as const

/** Whether conversations of people are kept by the server; the web and the server must agree, so it is settled when the web is built. */
export const conversationFeatureSettings = {
  SVC_FEATURE_CONVERSATION_DB: flag(
    false,
    'Keep conversations of people who are signed in by the identity provider on the server. Set it when the web is built: at run time it changes nothing.',
    { audience: 'client' },
  ),
} as const
