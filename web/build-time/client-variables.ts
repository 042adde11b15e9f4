// The path is relative, because the build configuration is loaded before any alias applies.
import { type BuildVariable, type ClientVariable, clientVariables as declared } from '../../proto/build-variables.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Returns all `CLIENT_*` variables. An explicit client variable takes precedence over its canonical server variable. */
export const resolveClientVariables = (environment: Environment): Record<ClientVariable, string | null> => {
  const resolved = Object.entries<BuildVariable>(declared).map(([name, { canonical, fallback }]) => [
    name,
    textOrNull(environment[name]) ??
      readCloudMode(name, environment) ??
      (canonical === undefined ? null : textOrNull(environment[canonical])) ??
      fallback,
  ])
  // `Object.fromEntries` loses the key type.
  return Object.fromEntries(resolved) as Record<ClientVariable, string | null>
}

/** Returns `cloud` for `CLIENT_CLOUD_MODE` if `SVC_DEPLOYMENT_MODE=cloud`, which is equivalent; otherwise null. */
const readCloudMode = (name: string, environment: Environment): string | null =>
  name === 'CLIENT_CLOUD_MODE' && environment.SVC_DEPLOYMENT_MODE?.trim().toLowerCase() === 'cloud' ? 'cloud' : null

const textOrNull = (value: string | undefined): string | null => (value?.trim() ? value.trim() : null)
