// By its path: the configuration of the build is loaded before any alias holds.
import { type BuildVariable, type ClientVariable, clientVariables as declared } from '../../proto/build-variables.ts'

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Every `CLIENT_*` variable as this build resolves it: the explicit client form wins over the canonical server name. */
export const clientVariables = (environment: Environment): Record<ClientVariable, string | null> => {
  const resolved = Object.entries<BuildVariable>(declared).map(([name, { canonical, fallback }]) => [
    name,
    given(environment[name]) ??
      cloudMode(name, environment) ??
      (canonical === undefined ? null : given(environment[canonical])) ??
      fallback,
  ])
  // Every declared variable has its entry.
  return Object.fromEntries(resolved) as Record<ClientVariable, string | null>
}

/** `SVC_DEPLOYMENT_MODE=cloud` means cloud mode as much as `SVC_CLOUD_MODE` does. */
const cloudMode = (name: string, environment: Environment): string | null =>
  name === 'CLIENT_CLOUD_MODE' && environment.SVC_DEPLOYMENT_MODE?.trim().toLowerCase() === 'cloud' ? 'cloud' : null

const given = (value: string | undefined): string | null => (value?.trim() ? value.trim() : null)
