import type { ClientVariable } from '#proto/build-variables.ts'

declare global {
  /** The `CLIENT_*` variables, which the build inlines. Null means that the variable was not set during the build. */
  interface ImportMetaEnv extends Readonly<Record<ClientVariable, string | null>> {}
}
