import { Command } from 'commander'
import { RequestError } from '../../client/failure.ts'
import { readKeyClaims } from '../api-key.ts'
import { writeConfigFile } from '../config-file.ts'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'

/** Revokes the saved key and deletes it. */
export const createLogoutCommand = (context: CommandContext): Command =>
  new Command('logout')
    .description('sign out: revoke and delete the saved key')
    .addHelpText('after', formatExamples('watchhouse logout', 'watchhouse logout --url https://watchhouse.example.com'))
    .action(async (_options, command) => {
      const { client, output, config, configPath } = openSession(context, command)
      const { [client.url]: own, ...others } = config.servers
      if (own === undefined) {
        if (output.mode === 'json') return output.json({ url: client.url, signedOut: false, revoked: false })
        return output.line(`There is no saved key for ${client.url}.`)
      }
      const id = readKeyClaims(own.apiKey)?.id
      let problem: string | undefined
      if (id === undefined) problem = 'it cannot be identified'
      else {
        try {
          await client.call('DELETE /api/v1/auth/api-keys/{id}', { path: { id } })
        } catch (error) {
          if (!(error instanceof RequestError)) throw error
          problem = error.message
        }
      }
      writeConfigFile(configPath, { url: config.url === client.url ? null : config.url, servers: others })
      if (output.mode === 'json')
        return output.json({ url: client.url, signedOut: true, revoked: problem === undefined })
      output.line(`Signed out of ${client.url}.`)
      if (problem !== undefined)
        output.note(`The key was deleted here, but not revoked: ${problem}. Revoke it on the API keys page.`)
    })
