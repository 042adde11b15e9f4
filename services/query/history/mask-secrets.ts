const hidden = '[HIDDEN]'

/**
 * Replaces secrets in a statement or a setting before it is stored. Servers mask most of them; older ones do not, and
 * comments or URLs may contain further ones.
 */
export const maskSecrets = (text: string): string =>
  text
    // A user and a password in an address.
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/'"@:]+:[^\s/'"@]+@/gi, `$1${hidden}@`)
    .replaceAll(/(\bidentified\s+(?:with\s+\w+\s+)?(?:by|with)\s+)'(?:[^'\\]|\\.|'')*'/gi, `$1'${hidden}'`)
    // A named argument or setting: password 'x', secret_access_key = 'x', "token": "x".
    .replaceAll(
      /((?:password|passphrase|secret|token|credential|(?:access|api|private|encryption|account)_?key)\w*["'`]?\s*[=:(,]?\s*)('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*")/gi,
      `$1'${hidden}'`,
    )
    // The positional arguments after the address of object storage.
    .replaceAll(
      /(\b(?:s3|s3Cluster|s3Queue|oss|cosn|gcs)\s*\(\s*'[^']*'\s*,\s*)'[^']*'\s*,\s*'[^']*'/gi,
      `$1'${hidden}', '${hidden}'`,
    )

/** Returns the value of a setting, masked if its name denotes a secret. */
export const maskSetting = (name: string, value: string): string =>
  /password|passphrase|secret|token|credential|(?:access|api|private|encryption|account)_?key/i.test(name)
    ? hidden
    : maskSecrets(value)
