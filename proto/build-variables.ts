/** A variable that the web build reads. */
export interface BuildVariable {
  /** Description in one sentence. */
  doc: string
  /** The format of valid values; other values count as unset. */
  kind: 'text' | 'flag' | 'cloud-flag' | 'count' | 'url'
  /** The default of the build; null for no value. */
  fallback: string | null
  /** The server variable whose value is used if this variable is not set. */
  canonical?: string
}

const text = (doc: string, fallback: string | null = null): BuildVariable => ({ doc, kind: 'text', fallback })
const flag = (doc: string, fallback: string | null = 'false'): BuildVariable => ({ doc, kind: 'flag', fallback })
const count = (doc: string): BuildVariable => ({ doc, kind: 'count', fallback: null })
const url = (doc: string): BuildVariable => ({ doc, kind: 'url', fallback: null })
const derived = (canonical: string, kind: BuildVariable['kind'], doc: string): BuildVariable => ({
  doc,
  kind,
  fallback: null,
  canonical,
})

/** Variables that the web build inlines into the browser bundle. Setting them at run time has no effect. */
export const clientVariables = {
  CLIENT_AUTH_PROVIDER: derived(
    'SVC_AUTH_PROVIDER',
    'text',
    'Authentication provider while SVC_AUTH_PROVIDER is unset at run time.',
  ),
  CLIENT_IDP_PUBLISHABLE_KEY: derived(
    'SVC_IDP_PUBLISHABLE_KEY',
    'text',
    'Publishable key while SVC_IDP_PUBLISHABLE_KEY is unset at run time.',
  ),
  CLIENT_CLOUD_MODE: derived('SVC_CLOUD_MODE', 'cloud-flag', 'Whether the web UI is built for cloud mode.'),
  CLIENT_FEATURE_CONVERSATION_DB: derived(
    'SVC_FEATURE_CONVERSATION_DB',
    'flag',
    'Whether conversations can be stored on the server.',
  ),
  CLIENT_FEATURE_USER_CONNECTIONS_DB: derived(
    'SVC_FEATURE_USER_CONNECTIONS_DB',
    'flag',
    'Whether the web UI offers to save connections on the server.',
  ),
  CLIENT_EDITION: derived('SVC_EDITION', 'text', 'Edition while SVC_EDITION is unset at run time.'),
  CLIENT_TITLE_SHORT: text('Product name in browser tab titles.', 'ClickHouse'),
  CLIENT_LOGO: url('Logo next to the product name.'),
  CLIENT_AUTOCOMPLETE_LIMIT: count('Maximum number of completions in the SQL editor; 60 by default.'),
  CLIENT_RUNNING_QUERIES_REFRESH_MS: count(
    'Refresh interval of the running queries page in milliseconds, at least 1000; by default as in its definition.',
  ),
  CLIENT_MEASUREMENT_ID: text(
    'Google Analytics measurement ID; used when CLIENT_ANALYTICS_A_ENABLED is on and the user consents.',
  ),
  CLIENT_ANALYTICS_A_ENABLED: flag(
    'Whether Google Analytics is enabled for users who consent; requires CLIENT_MEASUREMENT_ID.',
  ),
  CLIENT_ANALYTICS_B_ENABLED: flag(
    'Whether PostHog is enabled for users who consent; requires CLIENT_PRODUCT_ANALYTICS_KEY.',
  ),
  CLIENT_PRODUCT_ANALYTICS_KEY: derived('SVC_ANALYTICS_KEY', 'text', 'PostHog project key.'),
  CLIENT_PRODUCT_ANALYTICS_HOST: {
    ...derived('SVC_ANALYTICS_HOST', 'url', 'PostHog host.'),
    fallback: 'https://us.i.posthog.com',
  },
  CLIENT_GIT_SHA: text(
    'Git commit of the build, shown in /api/version and on the about page; read from git by default.',
  ),
  CLIENT_GIT_REF: text('Git branch or tag of the build; read from git by default.'),
  CLIENT_BUILD_TIMESTAMP: text('Build time in ISO 8601; the commit time by default.'),
  CLIENT_CI: flag('Whether the build ran in CI, as shown on the about page.', null),
} as const satisfies Record<string, BuildVariable>

/** The name of a variable that is inlined into the browser bundle. */
export type ClientVariable = keyof typeof clientVariables

/** Variables that the web build reads but does not inline under their own names. */
export const buildOnlyVariables = {
  SVC_ANALYTICS_KEY: text(
    'PostHog project key, unless CLIENT_PRODUCT_ANALYTICS_KEY is set. It is public and sent to browsers.',
  ),
  SVC_ANALYTICS_HOST: url('PostHog host, unless CLIENT_PRODUCT_ANALYTICS_HOST is set.'),
  ENABLE_EDGE_BUILD: flag('Build the web UI for an edge platform that serves static files itself.'),
  DOCS_CONTENT_ROOT: text(
    'Folder of the Markdown documentation to include in the build, relative to the product root; files are ordered by name. By default web/docs.',
  ),
} as const satisfies Record<string, BuildVariable>
