import { hash } from 'node:crypto'

/** Gateways take no longer name of a tool. */
const longest = 64
const hashLength = 8

/**
 * Name of a tool of somebody else's server: `mcp_<server>__<tool>`, so that it can stand for no tool of ours. What gateways do not
 * take in a name is replaced; then, and where it is too long, it ends in a part of a hash, so that two never become one.
 */
export const externalName = (server: string, tool: string): string => {
  const wished = `mcp_${server}__${tool}`
  const plain = wished.replaceAll(/[^\w-]/g, '_')
  // Where the id of the server ends is to be seen.
  const isClear = !/__|_$/.test(server)
  if (plain === wished && plain.length <= longest && isClear) return plain
  const digest = hash('sha256', wished).slice(0, hashLength)
  return `${plain.slice(0, longest - hashLength - 1)}_${digest}`
}
