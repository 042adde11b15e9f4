import { parseSettings } from '#shared/config/setting.ts'
import type { Gateway } from '../../gateway.ts'
import { authSettings } from '../config.ts'
import { resolveAuthProvider } from '../provider.ts'
import { resolveIdpAddresses } from './addresses.ts'

const { IDP_PUBLISHABLE_KEY } = authSettings

/** Returns the issuer of accepted OAuth tokens; undefined without an identity provider. */
export const resolveTokenIssuer = ({ env, build }: Pick<Gateway, 'env' | 'build'>): string | undefined => {
  if (resolveAuthProvider(env, build) !== 'idp') return undefined
  return (
    resolveIdpAddresses(env, build)?.issuer ??
    parseSettings({ IDP_PUBLISHABLE_KEY }, env).IDP_PUBLISHABLE_KEY?.issuer?.origin
  )
}
