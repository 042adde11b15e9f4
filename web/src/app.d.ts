import type { ClientVariable } from '../build-time/client-variables.ts'

declare global {
  /** Inlined by the build; null where the build had no value. */
  interface ImportMetaEnv extends Readonly<
    Record<ClientVariable | 'CLIENT_GIT_SHA' | 'CLIENT_GIT_REF' | 'CLIENT_BUILD_TIMESTAMP', string | null>
  > {}
}
