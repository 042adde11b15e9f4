import type { ClientVariable } from '#proto/build-variables.ts'

declare global {
  /** Inlined by the build; null where the build had no value. */
  interface ImportMetaEnv extends Readonly<Record<ClientVariable, string | null>> {}
}
