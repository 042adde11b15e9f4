import { createUsageError } from './exit-codes.ts'

/** Returns the address of a ClickHouse host. Throws a usage error for an invalid one, and for credentials in it. */
export const readHostUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw createUsageError(
      'invalid URL of the host; it must begin with http:// or https://, such as http://localhost:8123',
    )
  if (url.username !== '' || url.password !== '')
    throw createUsageError(
      'the URL must not contain credentials, which other users of this machine could see; use --user and CLICKHOUSE_PASSWORD',
    )
  return url
}
