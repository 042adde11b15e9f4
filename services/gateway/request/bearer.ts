import type { IncomingHttpHeaders } from 'node:http'

/** What stands after `Bearer` in the Authorization header, whatever it is; undefined without one. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^bearer +(?<bearer>\S.*)$/i.exec(authorization ?? '')?.groups?.bearer?.trimEnd()
