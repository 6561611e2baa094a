//! Keys and tokens identified by their prefix: one row per form, with the service, the prefix, and the letters and
//! length of the body.
//!
//! The formats are documented by the services. A row is data: a new service needs no other change. If one prefix begins
//! with another, the longer one is first.

use super::PrivacyKind;

/// The letters allowed in a body. The order is that of the stretches in `scanned::ScannedParts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    /// Letters, digits, `-` and `_`.
    Plain,
    /// Letters and digits.
    Alnum,
    /// Capitals and digits.
    Capitals,
    /// Hex digits.
    Hex,
    /// Letters, digits, `-`, `_`, `~` and dots.
    Dotted,
    /// Base64 in either alphabet, with its padding.
    Base64,
    /// Letters, digits and `$`.
    Dollar,
    /// Parameters, salt and hash of a password.
    Crypt,
}

impl Letters {
    /// The number of alphabets.
    pub(super) const COUNT: usize = 8;

    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'='),
            Self::Dollar => byte.is_ascii_alphanumeric() || byte == b'$',
            Self::Crypt => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'-' | b'_')
            }
        }
    }
}

/// A form of key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vendor {
    /// The service; for readers of the table.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) name: &'static str,
    pub(super) start: &'static str,
    pub(super) letters: Letters,
    /// Minimum and maximum length of the body in bytes.
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) kind: PrivacyKind,
}

const fn open(name: &'static str, start: &'static str, letters: Letters, least: usize) -> Vendor {
    Vendor { name, start, letters, least, most: usize::MAX, kind: PrivacyKind::Key }
}

const fn exact(name: &'static str, start: &'static str, letters: Letters, length: usize) -> Vendor {
    Vendor { name, start, letters, least: length, most: length, kind: PrivacyKind::Key }
}

const fn token(name: &'static str, start: &'static str, letters: Letters, least: usize) -> Vendor {
    Vendor { name, start, letters, least, most: usize::MAX, kind: PrivacyKind::Token }
}

use Letters::{Alnum, Base64, Capitals, Crypt, Dollar, Dotted, Hex, Plain};

/// Longer prefixes are before those they begin with.
pub(super) const VENDORS: &[Vendor] = &[
    // Language models.
    open("Anthropic", "sk-ant-api03-", Plain, 20),
    open("Anthropic", "sk-ant-admin01-", Plain, 20),
    open("Anthropic", "sk-ant-oat01-", Plain, 20),
    open("Anthropic", "sk-ant-", Plain, 20),
    open("OpenRouter", "sk-or-v1-", Plain, 32),
    open("Langfuse", "sk-lf-", Plain, 30),
    open("Helicone", "sk-helicone-", Plain, 20),
    open("OpenAI", "sk-proj-", Plain, 20),
    open("OpenAI", "sk-svcacct-", Plain, 20),
    open("OpenAI", "sk-admin-", Plain, 20),
    open("OpenAI", "sk-None-", Plain, 20),
    open("OpenAI, DeepSeek, Moonshot", "sk-", Plain, 20),
    open("Hugging Face", "hf_", Plain, 30),
    open("Hugging Face", "api_org_", Alnum, 30),
    open("Groq", "gsk_", Plain, 30),
    open("xAI", "xai-", Plain, 60),
    open("Perplexity", "pplx-", Plain, 40),
    open("Replicate", "r8_", Plain, 34),
    open("NVIDIA", "nvapi-", Plain, 50),
    open("Fireworks", "fw_", Alnum, 20),
    open("Cerebras", "csk-", Alnum, 40),
    open("Together", "tgp_v1_", Plain, 30),
    open("Voyage", "pa-", Plain, 40),
    open("Jina", "jina_", Plain, 40),
    open("Tavily", "tvly-", Plain, 28),
    open("Firecrawl", "fc-", Hex, 32),
    open("LangSmith", "lsv2_pt_", Plain, 32),
    open("LangSmith", "lsv2_sk_", Plain, 32),
    open("Pinecone", "pcsk_", Plain, 40),
    open("ElevenLabs", "sk_", Hex, 40),
    open("Stability, Clerk, Paystack", "sk_live_", Plain, 16),
    open("Deepgram", "dg_", Hex, 40),
    open("Apify", "apify_api_", Alnum, 30),
    // Clouds.
    exact("AWS", "AKIA", Capitals, 16),
    exact("AWS", "ASIA", Capitals, 16),
    exact("AWS", "ABIA", Capitals, 16),
    exact("AWS", "ACCA", Capitals, 16),
    open("AWS Bedrock", "ABSK", Base64, 100),
    open("Google", "AIza", Plain, 30),
    open("Google OAuth", "GOCSPX-", Plain, 24),
    token("Google OAuth", "ya29.", Plain, 20),
    token("Google OAuth", "1//0", Plain, 40),
    open("DigitalOcean", "dop_v1_", Hex, 64),
    open("DigitalOcean", "doo_v1_", Hex, 64),
    open("DigitalOcean", "dor_v1_", Hex, 64),
    open("Alibaba", "LTAI", Alnum, 16),
    open("Tencent", "AKID", Alnum, 30),
    open("Volcengine", "AKLT", Alnum, 40),
    open("Yandex", "AQVN", Plain, 35),
    open("Yandex", "y0_", Plain, 50),
    open("Heroku", "HRKU-", Plain, 30),
    open("Fly", "fo1_", Plain, 40),
    open("Fly", "FlyV1 fm2_", Base64, 60),
    open("Fly", "fm2_", Base64, 60),
    open("Scaleway", "SCW", Capitals, 17),
    open("Cloudflare", "v1.0-", Plain, 100),
    open("Vercel", "vcp_", Alnum, 24),
    open("Netlify", "nfp_", Plain, 30),
    open("Netlify", "nfc_", Plain, 30),
    open("PlanetScale", "pscale_tkn_", Dotted, 30),
    open("PlanetScale", "pscale_pw_", Dotted, 30),
    open("PlanetScale", "pscale_oauth_", Dotted, 30),
    open("Supabase", "sbp_", Hex, 40),
    open("Supabase", "sb_secret_", Plain, 20),
    open("Neon", "napi_", Alnum, 40),
    open("MongoDB Atlas", "mdb_sa_sk_", Plain, 30),
    open("Turso, Xata", "xau_", Alnum, 30),
    open("CockroachDB", "CCDB1_", Plain, 40),
    open("Databricks", "dapi", Plain, 32),
    open("Databricks", "dose", Plain, 32),
    open("Databricks", "dkea", Plain, 32),
    open("Prefect", "pnu_", Alnum, 36),
    open("Pulumi", "pul-", Hex, 40),
    open("Terraform", "hcp.", Dotted, 40),
    open("Vault", "hvs.", Plain, 24),
    open("Vault", "hvb.", Plain, 24),
    open("Vault", "hvr.", Plain, 24),
    exact("Vault", "s.", Alnum, 24),
    exact("Vault", "b.", Alnum, 24),
    open("Doppler", "dp.pt.", Alnum, 40),
    open("Doppler", "dp.st.", Dotted, 40),
    open("Doppler", "dp.ct.", Alnum, 40),
    open("Doppler", "dp.sa.", Alnum, 40),
    open("Infisical", "st.", Dotted, 60),
    open("Tailscale", "tskey-", Plain, 20),
    open("1Password", "ops_", Base64, 100),
    open("1Password", "A3-", Plain, 33),
    open("Age", "AGE-SECRET-KEY-1", Capitals, 50),
    // Code and packages.
    open("GitHub", "ghp_", Plain, 30),
    open("GitHub", "gho_", Plain, 30),
    open("GitHub", "ghu_", Plain, 30),
    open("GitHub", "ghs_", Plain, 30),
    open("GitHub", "ghr_", Plain, 30),
    open("GitHub", "github_pat_", Plain, 30),
    open("GitLab", "glpat-", Dotted, 16),
    open("GitLab", "gldt-", Plain, 16),
    open("GitLab", "glrt-", Dotted, 16),
    open("GitLab", "glptt-", Plain, 16),
    open("GitLab", "glcbt-", Plain, 16),
    open("GitLab", "glft-", Plain, 16),
    open("GitLab", "glimt-", Plain, 16),
    open("GitLab", "glsoat-", Plain, 16),
    open("GitLab", "glagent-", Plain, 16),
    open("GitLab", "gloas-", Plain, 16),
    open("GitLab", "glffct-", Plain, 16),
    open("Bitbucket", "ATBB", Base64, 28),
    open("Atlassian", "ATATT3", Base64, 60),
    open("Atlassian", "ATCTT3", Base64, 60),
    open("Trello", "ATTA", Hex, 60),
    open("npm", "npm_", Plain, 30),
    open("PyPI", "pypi-", Plain, 50),
    open("RubyGems", "rubygems_", Hex, 48),
    open("NuGet", "oy2", Alnum, 43),
    open("crates.io", "cio", Alnum, 32),
    open("Clojars", "CLOJARS_", Alnum, 60),
    open("Docker", "dckr_pat_", Plain, 20),
    open("Docker", "dckr_oat_", Plain, 20),
    open("Artifactory", "AKCp", Alnum, 60),
    open("Artifactory", "cmVmd", Alnum, 50),
    open("Buildkite", "bkua_", Alnum, 36),
    open("CircleCI", "CCIPAT_", Plain, 40),
    open("CircleCI", "CCIPRJ_", Plain, 40),
    open("SonarQube", "sqp_", Hex, 40),
    open("SonarQube", "squ_", Hex, 40),
    open("SonarQube", "sqa_", Hex, 40),
    open("Sourcegraph", "sgp_", Plain, 40),
    open("Octopus", "API-", Capitals, 25),
    open("Postman", "PMAK-", Plain, 40),
    open("Readme", "rdme_", Alnum, 60),
    open("Figma", "figd_", Plain, 38),
    open("Figma", "figo_", Plain, 38),
    open("Linear", "lin_api_", Alnum, 32),
    open("Linear", "lin_oauth_", Alnum, 32),
    open("Notion", "ntn_", Alnum, 40),
    open("Notion", "secret_", Alnum, 40),
    open("Airtable", "pat", Dotted, 70),
    open("Dropbox", "sl.", Plain, 100),
    open("Contentful", "CFPAT-", Plain, 40),
    open("Typeform", "tfp_", Dotted, 40),
    open("Canva, Clickup", "pk_", Plain, 30),
    open("Asana", "0/", Hex, 32),
    // Monitoring.
    open("Grafana", "glsa_", Plain, 32),
    open("Grafana", "glc_", Base64, 32),
    open("New Relic", "NRAK-", Alnum, 24),
    open("New Relic", "NRII-", Plain, 24),
    open("New Relic", "NRJS-", Hex, 19),
    open("New Relic", "NRAA-", Alnum, 24),
    open("Sentry", "sntrys_", Base64, 40),
    open("Sentry", "sntryu_", Hex, 60),
    open("PostHog", "phc_", Alnum, 40),
    open("PostHog", "phx_", Alnum, 40),
    open("Dynatrace", "dt0c01.", Dotted, 60),
    open("Dynatrace", "dt0s01.", Dotted, 60),
    open("Rootly", "rootly_", Hex, 60),
    exact("PagerDuty", "u+", Plain, 18),
    open("Honeycomb", "hcaik_", Alnum, 50),
    open("LaunchDarkly", "sdk-", Plain, 36),
    // Messages and mail.
    open("Slack", "xoxb-", Plain, 20),
    open("Slack", "xoxp-", Plain, 20),
    open("Slack", "xoxa-", Plain, 20),
    open("Slack", "xoxr-", Plain, 20),
    open("Slack", "xoxs-", Plain, 20),
    open("Slack", "xoxc-", Plain, 20),
    open("Slack", "xoxd-", Base64, 20),
    open("Slack", "xoxe.", Dotted, 20),
    open("Slack", "xoxe-", Plain, 20),
    open("Slack", "xapp-", Plain, 30),
    open("SendGrid", "SG.", Dotted, 50),
    exact("Twilio", "SK", Hex, 32),
    exact("Mailgun", "key-", Alnum, 32),
    exact("Mandrill", "md-", Plain, 22),
    open("Brevo", "xkeysib-", Plain, 60),
    open("Brevo", "xsmtpsib-", Plain, 60),
    open("Resend", "re_", Plain, 24),
    open("Telnyx", "KEY01", Plain, 40),
    open("HubSpot", "pat-na1-", Plain, 30),
    open("HubSpot", "pat-eu1-", Plain, 30),
    open("Klaviyo", "pk_", Hex, 34),
    open("LinkedIn", "WPL_AP1.", Dotted, 16),
    open("Facebook", "EAA", Alnum, 80),
    open("Twitter", "AAAAAAAAAAAAAAAAAAAAA", Base64, 60),
    // Shops and payments.
    open("Stripe", "sk_test_", Plain, 16),
    open("Stripe", "rk_live_", Plain, 16),
    open("Stripe", "rk_test_", Plain, 16),
    open("Stripe", "pk_live_", Plain, 16),
    open("Stripe", "whsec_", Base64, 24),
    open("Shopify", "shpat_", Hex, 32),
    open("Shopify", "shpca_", Hex, 32),
    open("Shopify", "shppa_", Hex, 32),
    open("Shopify", "shpss_", Hex, 32),
    open("Square", "sq0atp-", Plain, 22),
    open("Square", "sq0csp-", Plain, 40),
    open("Square", "EAAA", Plain, 50),
    open("Braintree", "access_token$production$", Dollar, 40),
    open("Braintree", "access_token$sandbox$", Dollar, 40),
    open("Razorpay", "rzp_live_", Alnum, 14),
    open("Razorpay", "rzp_test_", Alnum, 14),
    open("Flutterwave", "FLWSECK-", Plain, 30),
    open("Flutterwave", "FLWSECK_TEST-", Plain, 12),
    open("Plaid", "access-sandbox-", Plain, 36),
    open("Plaid", "access-production-", Plain, 36),
    open("EasyPost", "EZAK", Alnum, 54),
    open("EasyPost", "EZTK", Alnum, 54),
    open("Shippo", "shippo_live_", Hex, 40),
    open("Shippo", "shippo_test_", Hex, 40),
    open("Duffel", "duffel_live_", Plain, 40),
    open("Duffel", "duffel_test_", Plain, 40),
    open("Lob", "live_", Hex, 35),
    open("Lob", "test_", Hex, 35),
    open("Polar", "polar_oat_", Alnum, 30),
    open("Dub", "dub_", Alnum, 24),
    open("Cal", "cal_live_", Alnum, 30),
    // Hashes of passwords, as files of users and databases have them.
    open("Apache", "$apr1$", Crypt, 24),
    open("crypt, MD5", "$1$", Crypt, 24),
    open("crypt, SHA-256", "$5$", Crypt, 44),
    open("crypt, SHA-512", "$6$", Crypt, 87),
    open("crypt, yescrypt", "$y$", Crypt, 44),
    open("crypt, scrypt", "$7$", Crypt, 44),
    open("crypt, SunMD5", "$md5$", Crypt, 24),
    open("bcrypt", "$2a$", Crypt, 56),
    open("bcrypt", "$2b$", Crypt, 56),
    open("bcrypt", "$2x$", Crypt, 56),
    open("bcrypt", "$2y$", Crypt, 56),
    open("Argon2", "$argon2id$", Crypt, 40),
    open("Argon2", "$argon2i$", Crypt, 40),
    open("Argon2", "$argon2d$", Crypt, 40),
    open("passlib", "$pbkdf2-sha256$", Crypt, 40),
    open("passlib", "$pbkdf2-sha512$", Crypt, 40),
    open("passlib", "$scrypt$", Crypt, 40),
    open("phpass", "$P$", Crypt, 31),
    open("phpass", "$H$", Crypt, 31),
    open("Drupal", "$S$", Crypt, 52),
    open("Django", "pbkdf2_sha256$", Crypt, 40),
    open("Django", "pbkdf2_sha1$", Crypt, 40),
    open("Django", "bcrypt_sha256$", Crypt, 60),
    open("Werkzeug", "pbkdf2:sha256:", Crypt, 60),
    open("Werkzeug", "scrypt:32768:8:1$", Crypt, 60),
    open("LDAP, Apache", "{SHA}", Base64, 27),
    open("LDAP", "{SSHA}", Base64, 32),
    open("LDAP", "{MD5}", Base64, 22),
    open("LDAP", "{SMD5}", Base64, 28),
    open("LDAP", "{SHA256}", Base64, 43),
    open("LDAP", "{SSHA256}", Base64, 48),
    open("LDAP", "{SHA512}", Base64, 86),
    open("LDAP", "{SSHA512}", Base64, 92),
    open("PostgreSQL", "SCRAM-SHA-256$4096:", Crypt, 24),
    // Maps, games, other.
    token("Mapbox", "sk.eyJ", Dotted, 60),
    token("Mapbox", "pk.eyJ", Dotted, 60),
    open("Riot", "RGAPI-", Plain, 36),
    open("Adobe", "p8e-", Alnum, 32),
    open("Adafruit", "aio_", Alnum, 28),
    open("Frame.io", "fio-u-", Plain, 60),
    open("Infracost", "ico-", Alnum, 32),
    open("Wakatime", "waka_", Plain, 36),
    open("Harness", "pat.", Dotted, 50),
    open("Zuplo", "zpka_", Plain, 40),
    open("Shodan, Unkey", "unkey_", Alnum, 20),
    open("Retool", "retool_", Alnum, 26),
    open("Render", "rnd_", Alnum, 26),
    open("Railway, Trigger", "tr_prod_", Alnum, 20),
    open("Intra42", "s-s4t2ud-", Hex, 60),
];

/// Keys identified by a mark inside them: the mark, and the letters before and after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inner {
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) name: &'static str,
    pub(super) mark: &'static str,
    /// Letters before the mark, with minimum and maximum number.
    pub(super) before: (Letters, usize, usize),
    /// Letters after the mark, with minimum and maximum number.
    pub(super) after: (Letters, usize, usize),
}

const fn inner(
    name: &'static str,
    before: (Letters, usize, usize),
    mark: &'static str,
    after: (Letters, usize, usize),
) -> Inner {
    Inner { name, mark, before, after }
}

pub(super) const INNERS: &[Inner] = &[
    inner("Telegram", (Hex, 8, 10), ":AA", (Plain, 32, 36)),
    inner("Mailchimp", (Hex, 32, 32), "-us", (Hex, 1, 2)),
    inner("Azure AD", (Plain, 4, 4), "Q~", (Letters::Dotted, 25, 40)),
    inner("Terraform", (Alnum, 14, 14), ".atlasv1.", (Plain, 50, 80)),
];

/// URLs that are secrets: their start, with the host before it where it varies, and the minimum number of bytes after
/// it.
pub(super) const WEBHOOKS: &[(&str, usize)] = &[
    ("hooks.slack.com/services/", 20),
    ("hooks.slack.com/workflows/", 20),
    ("hooks.slack.com/triggers/", 20),
    ("discord.com/api/webhooks/", 40),
    ("discordapp.com/api/webhooks/", 40),
    (".webhook.office.com/webhookb2/", 40),
    ("outlook.office.com/webhook/", 40),
    ("outlook.office365.com/webhook/", 40),
    ("hooks.zapier.com/hooks/catch/", 10),
    ("hook.eu1.make.com/", 20),
    ("hook.eu2.make.com/", 20),
    ("hook.us1.make.com/", 20),
    ("hook.us2.make.com/", 20),
    ("hook.integromat.com/", 20),
    ("maker.ifttt.com/trigger/", 20),
    ("api.pushcut.io/", 16),
    ("webhook.site/", 30),
    ("open.feishu.cn/open-apis/bot/v2/hook/", 20),
    ("open.larksuite.com/open-apis/bot/v2/hook/", 20),
    ("hooks.airtable.com/workflows/", 20),
    ("hooks.chime.aws/incomingwebhooks/", 20),
];
