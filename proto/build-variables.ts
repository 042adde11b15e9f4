/** A variable whose value the build of the web inlines into what browsers load. */
export interface BuildVariable {
  /** What it decides, in a sentence. */
  doc: string
  /** What its text must be to mean something; anything else counts as unset. */
  kind: 'text' | 'flag' | 'cloud-flag' | 'count' | 'url'
  /** What the build takes when nobody says anything; null for no value. */
  fallback: string | null
  /** The variable of the server that its value is taken from unless it is set itself. */
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

/** What browsers are told by the build, by its name there. Set only at run time these change nothing. */
export const clientVariables = {
  CLIENT_AUTH_PROVIDER: derived(
    'SVC_AUTH_PROVIDER',
    'text',
    'Provider that holds while SVC_AUTH_PROVIDER is unset at run time.',
  ),
  CLIENT_IDP_PUBLISHABLE_KEY: derived(
    'SVC_IDP_PUBLISHABLE_KEY',
    'text',
    'Publishable key that holds while SVC_IDP_PUBLISHABLE_KEY is unset at run time.',
  ),
  CLIENT_CLOUD_MODE: derived('SVC_CLOUD_MODE', 'cloud-flag', 'Whether the web is built for cloud mode.'),
  CLIENT_FEATURE_CONVERSATION_DB: derived(
    'SVC_FEATURE_CONVERSATION_DB',
    'flag',
    'Whether conversations may be kept on the server.',
  ),
  CLIENT_FEATURE_USER_CONNECTIONS_DB: derived(
    'SVC_FEATURE_USER_CONNECTIONS_DB',
    'flag',
    'Off, the web offers no keeping of connections on the server, whatever the server would do.',
  ),
  CLIENT_EDITION: derived('SVC_EDITION', 'text', 'Edition that holds while SVC_EDITION is unset at run time.'),
  CLIENT_TITLE_SHORT: text('Name of the product in the title of browser tabs.', 'ClickHouse'),
  CLIENT_LOGO: url('Picture beside the name of the product.'),
  CLIENT_AUTOCOMPLETE_LIMIT: count('Most completions that the SQL editor shows at once; 60 by default.'),
  CLIENT_RUNNING_QUERIES_REFRESH_MS: count(
    'How often the page of running queries asks again, in milliseconds from 1000 on; by default as its definition says.',
  ),
  CLIENT_MEASUREMENT_ID: text(
    'Account of web analytics (Google); measures once CLIENT_ANALYTICS_A_ENABLED is on and a reader consents.',
  ),
  CLIENT_ANALYTICS_A_ENABLED: flag(
    'Whether web analytics may measure, of readers who consent; needs CLIENT_MEASUREMENT_ID.',
  ),
  CLIENT_ANALYTICS_B_ENABLED: flag(
    'Whether product analytics may measure, of readers who consent; needs CLIENT_PRODUCT_ANALYTICS_KEY.',
  ),
  CLIENT_PRODUCT_ANALYTICS_KEY: derived('SVC_ANALYTICS_KEY', 'text', 'Project of product analytics (PostHog).'),
  CLIENT_PRODUCT_ANALYTICS_HOST: {
    ...derived('SVC_ANALYTICS_HOST', 'url', 'Where product analytics are sent.'),
    fallback: 'https://us.i.posthog.com',
  },
  CLIENT_GIT_SHA: text('Commit that was built, as /api/version and the about page name it; git is asked by default.'),
  CLIENT_GIT_REF: text('Branch or tag that was built; git is asked by default.'),
  CLIENT_BUILD_TIMESTAMP: text('When it was built, as ISO 8601; the time of the commit by default.'),
  CLIENT_CI: flag('Whether a machine built it that builds unasked, as the about page says.', null),
} as const satisfies Record<string, BuildVariable>

/** The name of a variable that browsers are told. */
export type ClientVariable = keyof typeof clientVariables

/** What else steers the build. */
export const buildSwitches = {
  SVC_ANALYTICS_KEY: text(
    'Project of product analytics, unless CLIENT_PRODUCT_ANALYTICS_KEY names another; browsers are told it, as such keys are public.',
  ),
  SVC_ANALYTICS_HOST: url('Where product analytics are sent, unless CLIENT_PRODUCT_ANALYTICS_HOST says otherwise.'),
  ENABLE_EDGE_BUILD: flag('Build the web for an edge platform that serves its files itself.'),
  DOCS_CONTENT_ROOT: text(
    'Folder of the documentation that is built in, seen from the root of the product: Markdown files, in the order of their names. Else web/docs.',
  ),
} as const satisfies Record<string, BuildVariable>
