//! Names of the parser steps and of the formats unwrapped by `dialect`.
//!
//! A doc list keeps the steps it was read with, so a report can count the lists that were Python, fenced or repaired.

/// A step of the parser chain, or an unwrapped format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParseStep {
    /// The text was JSON.
    StrictJson,
    /// A byte-order mark was removed.
    ByteOrderMark,
    /// Tags such as `<tools>` were peeled.
    Tags,
    /// A markdown fence was peeled.
    Fence,
    /// `name =` was peeled.
    Assignment,
    /// Prose around one bracketed part was peeled.
    Prose,
    /// HTML entities were decoded.
    HtmlEntities,
    /// The doubled quotes of a CSV cell were decoded.
    CsvQuotes,
    /// A JSON or Python string contained JSON.
    JsonString,
    /// JSON with every quote escaped, as copied out of a log.
    EscapedJson,
    /// The text was Python source: `def` lines with docstrings.
    PythonDef,
    /// The text was signatures of functions without `def`.
    Signature,
    /// The text was TypeScript or JavaScript: functions, or types of functions.
    TypeScript,
    /// Functions as `LangChain` prints them.
    LangChain,
    /// Functions as `CrewAI` prints them.
    CrewAi,
    /// Functions as `LlamaIndex` prints them.
    LlamaIndex,
    /// The text was a Python literal.
    PythonLiteral,
    /// The text was JSON5: comments, trailing commas, bare keys.
    Json5,
    /// The text was YAML.
    Yaml,
    /// The text was several values side by side.
    Concatenated,
    /// Slips were repaired: a missing comma, a raw newline, a missing quote.
    Mended,
    /// Two repairers agreed on the meaning.
    Repaired,
    /// The text was one object instead of a list.
    BareObject,
    /// A list in a list was flattened.
    NestedList,
    /// An object contained the list: `{"tools": […]}`.
    Container,
    /// `OpenAI`'s wrapper: `{"type": "function", "function": {…}}`.
    Wrapper,
    /// Anthropic's `input_schema`.
    Anthropic,
    /// The Model Context Protocol's `inputSchema`.
    ModelContext,
    /// Gemini's function declarations.
    Gemini,
    /// Bedrock's `toolSpec`.
    Bedrock,
    /// The wrapper with which haystack serializes a tool or a set of them.
    Haystack,
    /// pydantic-ai's `parameters_json_schema`.
    PydanticAi,
    /// `api_name` and `api_description`, as API collections have them.
    ApiRecord,
    /// An object from names to functions.
    FunctionMap,
    /// An `OpenAPI` description of version 3.
    OpenApi,
    /// A Swagger description of version 2.
    Swagger,
    /// A Postman collection.
    Postman,
    /// An operation without a name was named by method and path.
    NamedByPath,
    /// Parameters with the same name got their location as a suffix.
    PlaceSuffix,
    /// A recursive schema was cut at its first repetition.
    RecursionCut,
    /// Types were inferred from example values.
    TypesInferred,
    /// An object from names of servers to their lists.
    ServerMap,
    /// An object from names to prose about functions.
    ProseMap,
    /// The element was a schema instead of a function, and its title is the name.
    NamedByTitle,
    /// A function in a map of functions had a name other than its key, and kept it.
    OwnName,
    /// Private functions and classes of a module were omitted.
    PrivateLeftOut,
    /// Functions without a decorator were omitted, as others of the module are marked as tools.
    UndecoratedLeftOut,
    /// Classes that no function mentions and that have no callable methods were omitted.
    ClassLeftOut,
    /// Tools that a server runs itself, without a schema, were omitted.
    ServerToolLeftOut,
}

impl ParseStep {
    /// Returns the stable name of the step.
    pub fn code(self) -> &'static str {
        match self {
            Self::StrictJson => "strict-json",
            Self::ByteOrderMark => "byte-order-mark",
            Self::Tags => "tags",
            Self::Fence => "fence",
            Self::Assignment => "assignment",
            Self::Prose => "prose",
            Self::HtmlEntities => "html-entities",
            Self::CsvQuotes => "csv-quotes",
            Self::JsonString => "json-string",
            Self::EscapedJson => "escaped-json",
            Self::PythonDef => "python-def",
            Self::Signature => "signature",
            Self::TypeScript => "typescript",
            Self::LangChain => "langchain",
            Self::CrewAi => "crewai",
            Self::LlamaIndex => "llama-index",
            Self::PythonLiteral => "python-literal",
            Self::Json5 => "json5",
            Self::Yaml => "yaml",
            Self::Concatenated => "concatenated",
            Self::Mended => "mended",
            Self::Repaired => "repaired",
            Self::BareObject => "bare-object",
            Self::NestedList => "nested-list",
            Self::Container => "container",
            Self::Wrapper => "wrapper",
            Self::Anthropic => "anthropic",
            Self::ModelContext => "model-context",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Haystack => "haystack",
            Self::PydanticAi => "pydantic-ai",
            Self::ApiRecord => "api-record",
            Self::FunctionMap => "function-map",
            Self::OpenApi => "openapi",
            Self::Swagger => "swagger",
            Self::Postman => "postman",
            Self::NamedByPath => "named-by-path",
            Self::PlaceSuffix => "place-suffix",
            Self::RecursionCut => "recursion-cut",
            Self::TypesInferred => "types-inferred",
            Self::ServerMap => "server-map",
            Self::ProseMap => "prose-map",
            Self::NamedByTitle => "named-by-title",
            Self::OwnName => "own-name",
            Self::PrivateLeftOut => "private-left-out",
            Self::UndecoratedLeftOut => "undecorated-left-out",
            Self::ClassLeftOut => "class-left-out",
            Self::ServerToolLeftOut => "server-tool-left-out",
        }
    }
}

/// Records a step once.
pub(crate) fn note(steps: &mut Vec<ParseStep>, step: ParseStep) {
    if !steps.contains(&step) {
        steps.push(step);
    }
}
