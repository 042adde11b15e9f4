/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Settings that the browser needs and the server owns: canonical name, then the name in the bundle. */
const derived = {
  SVC_AUTH_PROVIDER: 'CLIENT_AUTH_PROVIDER',
  SVC_IDP_PUBLISHABLE_KEY: 'CLIENT_IDP_PUBLISHABLE_KEY',
  SVC_CLOUD_MODE: 'CLIENT_CLOUD_MODE',
  SVC_FEATURE_CONVERSATION_DB: 'CLIENT_FEATURE_CONVERSATION_DB',
  SVC_FEATURE_USER_CONNECTIONS_DB: 'CLIENT_FEATURE_USER_CONNECTIONS_DB',
  SVC_EDITION: 'CLIENT_EDITION',
} as const

const own = {
  CLIENT_TITLE_SHORT: 'ClickHouse',
  CLIENT_LOGO: null,
  CLIENT_AUTOCOMPLETE_LIMIT: null,
  CLIENT_RUNNING_QUERIES_REFRESH_MS: null,
  CLIENT_MEASUREMENT_ID: null,
  CLIENT_ANALYTICS_A_ENABLED: 'false',
  CLIENT_ANALYTICS_B_ENABLED: 'false',
  CLIENT_PRODUCT_ANALYTICS_KEY: null,
  CLIENT_PRODUCT_ANALYTICS_HOST: null,
  CLIENT_CI: null,
} as const

export type ClientVariable = (typeof derived)[keyof typeof derived] | keyof typeof own

/** Every `CLIENT_*` variable as this build resolves it: the explicit client form wins over the canonical server name. */
export const clientVariables = (environment: Environment): Record<ClientVariable, string | null> => {
  const fromServer = Object.entries(derived).map(([canonical, name]) => [
    name,
    given(environment[name]) ?? cloudMode(name, environment) ?? given(environment[canonical]) ?? null,
  ])
  const fromClient = Object.entries(own).map(([name, fallback]) => [name, given(environment[name]) ?? fallback])
  // The two tables above list exactly the members of ClientVariable.
  return Object.fromEntries([...fromServer, ...fromClient]) as Record<ClientVariable, string | null>
}

/** `SVC_DEPLOYMENT_MODE=cloud` means cloud mode as much as `SVC_CLOUD_MODE` does. */
const cloudMode = (name: string, environment: Environment): string | null =>
  name === 'CLIENT_CLOUD_MODE' && environment.SVC_DEPLOYMENT_MODE?.trim().toLowerCase() === 'cloud' ? 'cloud' : null

const given = (value: string | undefined): string | null => (value?.trim() ? value.trim() : null)
