import { type Feature, features } from '#proto/call.ts'
import { type Setting, optionalFlagSetting, optionalTextSetting, flagSetting } from '#shared/config/setting.ts'

/** Access level of an enabled feature. */
export type FeatureAccess = 'public' | 'authenticated'

/** Access levels by their accepted names; `guest` is an alias of `public`. */
const accessWords: Readonly<Record<string, FeatureAccess>> = {
  public: 'public',
  guest: 'public',
  authenticated: 'authenticated',
}

/** Parses an access level, case-insensitively; undefined when it is unknown. */
export const parseFeatureAccess = (word: string): FeatureAccess | undefined => {
  const lower = word.trim().toLowerCase()
  return Object.hasOwn(accessWords, lower) ? accessWords[lower] : undefined
}

/** Parses a feature id, case-insensitively; undefined when it is unknown. */
export const parseFeature = (word: string): Feature | undefined =>
  features.find((feature) => feature === word.trim().toUpperCase())

/**
 * Returns a setting for a list of features. Unknown names are errors, because a skipped typo would leave a feature open
 * that should be closed.
 */
const featureList = (doc: string): Setting<ReadonlySet<Feature>> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: 'comma-separated feature ids',
  parse: (value) => {
    const words = (value ?? '').split(',').filter((word) => word.trim() !== '')
    return new Set(
      words.map((word) => {
        const feature = parseFeature(word)
        if (feature === undefined)
          throw new Error(`has an unknown feature "${word.trim()}"; allowed: ${features.join(', ')}`)
        return feature
      }),
    )
  },
})

const accessOf = (feature: Feature): Setting<FeatureAccess | undefined> => ({
  doc: `Who can use ${feature}: everyone with read access, or authenticated callers only.`,
  audience: 'server',
  fallback: 'public',
  allowed: 'public, guest (the same), authenticated',
  parse: (value) => {
    if (value === undefined) return undefined
    const access = parseFeatureAccess(value)
    if (access === undefined) throw new Error('must be public, guest or authenticated')
    return access
  },
})

const enabledOf = (feature: Feature): Setting<boolean | undefined> => ({
  ...optionalFlagSetting(`Whether the feature ${feature} is enabled.`),
  fallback: 'true',
})

type FeatureSettings = Record<`SVC_FEATURE_${Feature}_ACCESS`, Setting<FeatureAccess | undefined>> &
  Record<`SVC_FEATURE_${Feature}_ENABLED`, Setting<boolean | undefined>>

/** Settings that enable features and restrict their access. */
export const featureSettings = {
  SVC_DISABLED_FEATURES: featureList('Features that are disabled.'),
  SVC_AUTH_REQUIRED_FEATURES: featureList('Features that require authentication.'),
  SVC_CONFIG_FILE: optionalTextSetting(
    'TOML or YAML file with a features table, read once at start; ignored on the edge. Environment variables take precedence.',
  ),
  // Object.fromEntries loses the key type. Both variables of every feature are generated here.
  ...(Object.fromEntries(
    features.flatMap((feature) => [
      [`SVC_FEATURE_${feature}_ACCESS`, accessOf(feature)],
      [`SVC_FEATURE_${feature}_ENABLED`, enabledOf(feature)],
    ]),
  ) as FeatureSettings),
} as const

/** Settings of the Prometheus endpoint. */
export const expositionSettings = {
  SVC_FEATURE_PROMETHEUS_ENABLED: optionalFlagSetting(
    'Serve GET /api/v1/metrics with the metrics of all hosts for Prometheus. Unset: on, off in cloud mode.',
  ),
} as const

/** Settings of saved connections. */
export const userConnectionSettings = {
  SVC_FEATURE_USER_CONNECTIONS_DB: flagSetting(
    false,
    'Allow users to save their own connections; requires a state database and SVC_USER_CONNECTIONS_ENCRYPTION_KEY.',
    { audience: 'client' },
  ),
} as const

/** Settings of stored conversations. The value is fixed when the web UI is built, so that web and server agree. */
export const conversationFeatureSettings = {
  SVC_FEATURE_CONVERSATION_DB: flagSetting(
    false,
    'Store conversations of users of the identity provider on the server. Build-time variable: setting it at run time has no effect.',
    { audience: 'client' },
  ),
} as const
