//! The list of the games, and the macro that combines them into one closed game: one enum for each
//! associated type, with a variant per game, and the traits by delegation to the game.

/// Calls a macro with the list of the games that the house plays, and those of the tests if this
/// crate has the feature `testing`.
#[cfg(not(feature = "testing"))]
#[macro_export]
macro_rules! for_games {
    ($then:ident) => {
        $crate::for_games_and!($then);
    };
}

/// Calls a macro with the list of the games that the house plays, and those of the tests.
#[cfg(feature = "testing")]
#[macro_export]
macro_rules! for_games {
    ($then:ident) => {
        $crate::for_games_and!($then, GuessTheDie($crate::testing::guess_the_die::GuessTheDie));
    };
}

/// Calls a macro with the list of the games that the house plays, and these games of tests.
#[doc(hidden)]
#[macro_export]
macro_rules! for_games_and {
    ($then:ident $(, $tried:ident($tried_game:ty))*) => {
        $then! {
            games {
                Tongits($crate::games::tongits::Tongits),
                TongoOptions($crate::games::tongo_options::TongoOptions),
                TongoAssets($crate::games::tongo_assets::TongoAssets),
            }
            tests { $($tried($tried_game)),* }
        }
    };
}

macro_rules! catalog {
    (games { $($variant:ident($game:ty)),+ $(,)? } tests { $($tried:ident($tried_game:ty)),* $(,)? }) => {
        catalog!(@make $(false $variant($game)),+ $(, true $tried($tried_game))*);
    };

    (@make $($hidden:literal $variant:ident($game:ty)),+) => {
        /// A game of any kind in the list.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "a game is copied whole, whatever its size")]
        pub enum AnyGame {
            $($variant($game),)+
        }

        catalog! { @part "A rule set" AnyRules Rules; $($hidden $variant($game)),+ }
        catalog! { @part "An action" AnyAction Action; $($hidden $variant($game)),+ }
        catalog! { @part "An event" AnyEvent Event; $($hidden $variant($game)),+ }
        catalog! { @part "A view" AnyView View; $($hidden $variant($game)),+ }
        catalog! { @written AnyGame; $($variant)+ }

        /// The reason for a refusal at any game in the list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AnyRefusal {
            $($variant(<$game as Game>::Refusal),)+
            /// The action belongs to another game.
            OtherGame,
        }

        impl fmt::Display for AnyRefusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(illegal) => fmt::Display::fmt(illegal, f),)+
                    Self::OtherGame => f.write_str("this is an action of another game"),
                }
            }
        }

        impl Refusal for AnyRefusal {
            fn code(self) -> &'static str {
                match self {
                    $(Self::$variant(illegal) => illegal.code(),)+
                    Self::OtherGame => "action_of_another_game",
                }
            }

            fn rule(self) -> &'static str {
                match self {
                    $(Self::$variant(illegal) => illegal.rule(),)+
                    Self::OtherGame => "1.1",
                }
            }
        }

        impl GameRules for AnyRules {
            catalog! { @forward [$($variant)+]
                kind(&self) -> &'static str;
                seats(&self) -> SeatRange;
                counts_per_bet(&self) -> u32;
                counts_max(&self, seats: u8) -> u32;
                may_have_short_stakes(&self) -> bool;
                check(&self) -> Result<(), RulesError>;
                countdown_ms(&self) -> RangeInclusive<u32>;
            }
        }

        impl Game for AnyGame {
            type Rules = AnyRules;
            type Action = AnyAction;
            type Event = AnyEvent;
            type View = AnyView;
            type Refusal = AnyRefusal;

            catalog! { @forward [$($variant)+]
                turn(&self) -> Turn;
                outcome(&self) -> Option<Outcome>;
                ending(&self) -> Option<&'static str>;
                counts(&self) -> Vec<CounterIncrement>;
                prompt_for(&self, viewer: Viewer) -> Option<Prompt>;
            }

            catalog! { @ask [$($variant($game))+]
                prompt_in_view(AnyView) -> Option<Prompt>;
            }

            fn new(rules: &AnyRules, seats: u8, starter: Option<Seat>) -> Self {
                match rules {
                    $(AnyRules::$variant(rules) => {
                        Self::$variant(<$game as Game>::new(rules, seats, starter))
                    })+
                }
            }

            fn legal_actions(&self, seat: Seat, actions: &mut Vec<AnyAction>) {
                match self {
                    $(Self::$variant(game) => {
                        let mut legal = Vec::new();
                        game.legal_actions(seat, &mut legal);
                        actions.extend(legal.into_iter().map(AnyAction::$variant));
                    })+
                }
            }

            fn act(
                &self,
                seat: Seat,
                action: &AnyAction,
                events: &mut Vec<AnyEvent>,
            ) -> Result<Self, AnyRefusal> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        let mut happened = Vec::new();
                        let next = game.act(seat, action, &mut happened);
                        let next = next.map_err(AnyRefusal::$variant)?;
                        events.extend(happened.into_iter().map(AnyEvent::$variant));
                        Ok(Self::$variant(next))
                    })+
                    _ => Err(AnyRefusal::OtherGame),
                }
            }

            fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<AnyEvent>) -> Self {
                match self {
                    $(Self::$variant(game) => {
                        let mut happened = Vec::new();
                        let next = game.resolve(answer, &mut happened);
                        events.extend(happened.into_iter().map(AnyEvent::$variant));
                        Self::$variant(next)
                    })+
                }
            }

            fn expire(&self, events: &mut Vec<AnyEvent>) -> Self {
                match self {
                    $(Self::$variant(game) => {
                        let mut happened = Vec::new();
                        let next = game.expire(&mut happened);
                        events.extend(happened.into_iter().map(AnyEvent::$variant));
                        Self::$variant(next)
                    })+
                }
            }

            fn default_action(&self, seat: Seat) -> Option<AnyAction> {
                match self {
                    $(Self::$variant(game) => game.default_action(seat).map(AnyAction::$variant),)+
                }
            }

            fn view(&self, viewer: Viewer) -> AnyView {
                match self {
                    $(Self::$variant(game) => AnyView::$variant(game.view(viewer)),)+
                }
            }

            fn redact(event: &AnyEvent, viewer: Viewer) -> Option<AnyEvent> {
                match event {
                    $(AnyEvent::$variant(event) => {
                        <$game>::redact(event, viewer).map(AnyEvent::$variant)
                    })+
                }
            }

            fn observe(view: &mut AnyView, event: &AnyEvent) {
                match (view, event) {
                    $((AnyView::$variant(view), AnyEvent::$variant(event)) => {
                        <$game>::observe(view, event);
                    })+
                    // A view only follows the events of its own table, which belong to its own
                    // game.
                    _ => {}
                }
            }

            fn legal_in_view(view: &AnyView, actions: &mut Vec<AnyAction>) {
                match view {
                    $(AnyView::$variant(view) => {
                        let mut legal = Vec::new();
                        <$game>::legal_in_view(view, &mut legal);
                        actions.extend(legal.into_iter().map(AnyAction::$variant));
                    })+
                }
            }

            fn refusal_in_view(view: &AnyView, action: &AnyAction) -> Option<AnyRefusal> {
                match (view, action) {
                    $((AnyView::$variant(view), AnyAction::$variant(action)) => {
                        <$game>::refusal_in_view(view, action).map(AnyRefusal::$variant)
                    })+
                    _ => Some(AnyRefusal::OtherGame),
                }
            }

            fn is_commitment(view: &AnyView, action: &AnyAction) -> bool {
                match (view, action) {
                    $((AnyView::$variant(view), AnyAction::$variant(action)) => {
                        <$game>::is_commitment(view, action)
                    })+
                    // `act` refuses the action as one of another game.
                    _ => false,
                }
            }
        }

        impl Describe for AnyGame {
            catalog! { @ask [$($variant($game))+]
                describe(AnyView) -> Vec<Row>;
                describe_action(AnyAction) -> Vec<Piece>;
                describe_event(AnyEvent) -> Option<Row>;
                describe_result(AnyView) -> Vec<Row>;
            }

            fn describe_item(
                view: &AnyView,
                payer: Seat,
                receiver: Seat,
                item: &Item,
            ) -> Vec<Piece> {
                match view {
                    $(AnyView::$variant(view) => {
                        <$game>::describe_item(view, payer, receiver, item)
                    })+
                }
            }
        }

        impl Readable for AnyGame {
            fn read_table(text: &str) -> Result<Table<Self>, DocumentError> {
                let kind = crate::table::read_kind(text)?;
                $(if kind == <$game as GameKind>::NAME {
                    return Ok(<$game as Readable>::read_table(text)?.lift());
                })+
                Err(DocumentError::UnknownGame(kind))
            }

            fn read_line(kind: &str, text: &str) -> Result<Line<AnyAction>, DocumentError> {
                $(if kind == <$game as GameKind>::NAME {
                    return Ok(<$game>::read_line(kind, text)?.map(AnyAction::$variant));
                })+
                Err(DocumentError::UnknownGame(kind.into()))
            }

            fn read_record(text: &str) -> Result<Record<Self>, DocumentError> {
                let kind = crate::table::read_kind(text)?;
                $(if kind == <$game as GameKind>::NAME {
                    return Ok(<$game as Readable>::read_record(text)?.lift());
                })+
                Err(DocumentError::UnknownGame(kind))
            }

            fn read_rules<'de, D: Deserializer<'de>>(
                kind: &str,
                from: D,
            ) -> Result<AnyRules, D::Error> {
                $(if kind == <$game as GameKind>::NAME {
                    return <$game>::read_rules(kind, from).map(AnyRules::$variant);
                })+
                Err(D::Error::custom(DocumentError::UnknownGame(kind.into())))
            }

            fn read_action<'de, D: Deserializer<'de>>(
                kind: &str,
                from: D,
            ) -> Result<AnyAction, D::Error> {
                $(if kind == <$game as GameKind>::NAME {
                    return <$game>::read_action(kind, from).map(AnyAction::$variant);
                })+
                Err(D::Error::custom(DocumentError::UnknownGame(kind.into())))
            }
        }

        $(
        impl Lift<AnyGame> for $game {
            fn lift(self) -> AnyGame {
                AnyGame::$variant(self)
            }

            fn lift_rules(rules: Self::Rules) -> AnyRules {
                AnyRules::$variant(rules)
            }

            fn lift_action(action: Self::Action) -> AnyAction {
                AnyAction::$variant(action)
            }

            fn lift_event(event: Self::Event) -> AnyEvent {
                AnyEvent::$variant(event)
            }

            fn lift_view(view: Self::View) -> AnyView {
                AnyView::$variant(view)
            }

            fn lower_event(event: &AnyEvent) -> Option<&Self::Event> {
                match event {
                    AnyEvent::$variant(event) => Some(event),
                    _ => None,
                }
            }
        }
        )+

        impl AnyEvent {
            /// Returns the name of the event's short form and its index in its game's list.
            pub fn short(&self) -> Option<(&'static str, u8)> {
                match self {
                    $(Self::$variant(event) => {
                        let name = <$game as GameKind>::short_event(event)?;
                        let names = <$game as GameKind>::SHORT_EVENTS.iter().zip(0..);
                        names.filter(|(known, _)| **known == name).map(|(_, index)| (name, index)).next()
                    })+
                }
            }

            /// Writes the fields of an event that has a short form.
            pub fn write_short<S: SerializeSeq>(&self, fields: &mut S) -> Result<(), S::Error> {
                match self {
                    $(Self::$variant(event) => <$game as GameKind>::write_short(event, fields),)+
                }
            }
        }

        /// The names of the games, in the order of the list.
        pub const KIND_NAMES: &[&str] = &[$(<$game as GameKind>::NAME),+];

        /// Returns every game of the list, in order.
        pub fn kinds() -> Vec<Kind> {
            alloc::vec![$(Kind {
                name: <$game as GameKind>::NAME,
                title: <$game as GameKind>::TITLE,
                unit: <$game as GameKind>::UNIT,
                endings: <$game as GameKind>::ENDINGS,
                counters: <$game as GameKind>::COUNTERS,
                rule_sets: <$game as GameKind>::rule_sets()
                    .iter()
                    .map(|set| NamedRules {
                        name: set.name,
                        title: set.title,
                        rules: AnyRules::$variant((set.rules)()),
                        hits: set.hits,
                    })
                    .collect(),
                is_hidden: $hidden,
            },)+]
        }

        /// Returns every reason for a refusal by a game of the list, with the game's name.
        pub fn refusals() -> Vec<(&'static str, AnyRefusal)> {
            let mut refusals = Vec::new();
            $(
            for illegal in <$game as GameKind>::refusals() {
                refusals.push((<$game as GameKind>::NAME, AnyRefusal::$variant(*illegal)));
            })+
            refusals
        }

        /// Runs `visitor` with the game of this name; `None` if there is no such game.
        pub fn with_kind<V: Visitor>(kind: &str, visitor: V) -> Option<V::Output> {
            $(if kind == <$game as GameKind>::NAME {
                return Some(visitor.visit::<$game>());
            })+
            None
        }
    };

    // A method of one of the union's values.
    (@forward $variants:tt $($name:ident(&self $(, $arg:ident: $of:ty)?) -> $out:ty;)+) => {
        $(catalog! { @forward_one $variants $name [$($arg: $of)?] ($($arg)?) -> $out })+
    };

    (@forward_one [$($variant:ident)+] $name:ident [$($arg:ident: $of:ty)?] $args:tt -> $out:ty) => {
        fn $name(&self $(, $arg: $of)?) -> $out {
            match self {
                $(Self::$variant(one) => one.$name $args,)+
            }
        }
    };

    // A function of the game to which a value belongs.
    (@ask $variants:tt $($name:ident($any:ident) -> $out:ty;)+) => {
        $(catalog! { @ask_one $variants $name($any) -> $out })+
    };

    (@ask_one [$($variant:ident($game:ty))+] $name:ident($any:ident) -> $out:ty) => {
        fn $name(value: &$any) -> $out {
            match value {
                $($any::$variant(one) => <$game>::$name(one),)+
            }
        }
    };

    (@written $name:ident; $($variant:ident)+) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(one) => one.serialize(serializer),)+
                }
            }
        }
    };

    // The union of one associated type of all games.
    (@part $about:literal $name:ident $part:ident;
        $($hidden:literal $variant:ident($game:ty)),+
    ) => {
        #[doc = concat!($about, " of any game in the list.")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($variant(<$game as Game>::$part),)+
        }

        catalog! { @written $name; $($variant)+ }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut schemas: Vec<schemars::Schema> = Vec::new();
                $(if !$hidden {
                    schemas.push(generator.subschema_for::<<$game as Game>::$part>());
                })+
                match (schemas.pop(), schemas.is_empty()) {
                    (Some(only), true) => only,
                    (last, _) => {
                        schemas.extend(last);
                        schemars::json_schema!({ "anyOf": schemas })
                    }
                }
            }
        }
    };
}
